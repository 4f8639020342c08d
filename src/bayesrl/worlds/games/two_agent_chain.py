"""A chain that two players walk together (after the chain of Strens 2000; survey §7.3).

Five states in a row, two actions each. If both go on (0), they move one state on and are paid 0; in the last state they
stay and are paid 10. If both return (1), they are back in the first state and are paid 2. With probability `slip` an
agreement has the other effect. If they disagree, they are back in the first state and are paid nothing.

Chalkiadakis and Boutilier (2003) ran a chain of two players. Their numbers were not at hand: these are ours, after the
chain of one player. A world of the family has a partner whose probabilities in each state are drawn from a Dirichlet.
"""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from typing import Annotated, ClassVar

import numpy as np
from numpy.random import Generator

from bayesrl.beliefs.games.dirichlet_game import DirichletGame
from bayesrl.checks import generator
from bayesrl.models.stochastic_game import StochasticGame
from bayesrl.parameters import PROBABILITY, Above, Within, value
from bayesrl.registry import register
from bayesrl.worlds.games._game_world import GameWorld
from bayesrl.worlds.settings import Published, Setting

LENGTH = 5
SETTING = Setting("bayesian-marl", steps=100)


@register(
    "two-agent-chain",
    kind="family",
    survey="7.3",
    paper="chalkiadakis03",
    evidence=(
        "tests/worlds/games/test_game_worlds.py::test_two_agent_chain_by_hand",
        "tests/worlds/games/test_game_worlds.py::test_partners_have_their_law",
    ),
)
@value
class TwoAgentChain(Published):
    """A chain of five states that two players must agree to walk; partners are drawn.

    Examples
    --------
    >>> family = TwoAgentChain()
    >>> family.game.P[0, 0, 0].round(3).tolist(), family.draw(np.random.default_rng(0)).partner.shape
    ([0.2, 0.8, 0.0, 0.0, 0.0], (5, 2))
    """

    slip: Annotated[float, PROBABILITY, "Probability that an agreement has the other effect."] = 0.2
    concentration: Annotated[float, Above(0), "Dirichlet count of each action of a partner in each state."] = 1.0
    gamma: Annotated[float, Within(0.0, 1.0, open_high=True), "Discount."] = 0.95
    setting: Annotated[Setting, "How the family is usually run."] = field(default=SETTING, repr=False)

    registered: ClassVar[str] = "two-agent-chain"
    n_actions = 2
    n_observations = LENGTH
    answers = (2,)

    @cached_property
    def game(self) -> StochasticGame:
        """The game, for `multiagent.run_game`."""
        P, R, s = np.zeros((LENGTH, 2, 2, LENGTH)), np.zeros((LENGTH, 2, 2, LENGTH)), np.arange(LENGTH)
        on = np.minimum(s + 1, LENGTH - 1)
        P[:, 0, 1, 0] = P[:, 1, 0, 0] = 1.0
        for a, works in ((0, 1.0 - self.slip), (1, self.slip)):
            P[s, a, a, on] += works
            P[s, a, a, 0] += 1.0 - works
            R[:, a, a, 0], R[-1, a, a, -1] = 2.0, 10.0
        return StochasticGame(P, R, float(self.gamma))

    def default_prior(self) -> DirichletGame:
        """Unknown transitions and an unknown strategy; rewards are known."""
        return DirichletGame.flat(self.game)

    def draw(self, rng: Generator) -> GameWorld:
        """A world with a drawn partner."""
        partner = generator("two-agent-chain", rng).dirichlet(np.full(2, float(self.concentration)), LENGTH)
        return GameWorld("two-agent-chain", self.game, partner, setting=self.setting)
