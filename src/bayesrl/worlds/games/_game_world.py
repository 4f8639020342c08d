"""A game against a player with a fixed strategy, as a world of one agent.

The state is that of the game. An observation is the pair (state, the other's last action), -1 at a reset: the other's
action is seen after each step. `multiagent.run_game` takes the game itself and two agents.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import field
from typing import Annotated, ClassVar

import numpy as np
from numpy.random import Generator

from bayesrl._explained import explain_failures
from bayesrl.beliefs.games.dirichlet_game import DirichletGame
from bayesrl.checks import Floats, generator, integer
from bayesrl.core import WorldStep
from bayesrl.errors import InvalidArgument
from bayesrl.models.solve import optimal_total
from bayesrl.models.stochastic_game import StochasticGame, check_strategy
from bayesrl.parameters import Shape, value
from bayesrl.worlds.settings import Published, Setting
from bayesrl.worlds.tabular import cumulative

NOTHING = -1
"""The other's last action before the first step."""
SETTING = Setting("bayesian-marl", steps=50)
"""Fifty rounds; the prior is `default_prior`, which only agents of games can use."""


@explain_failures
@value
class GameWorld(Published):
    """A game against a player with a fixed strategy.

    Examples
    --------
    >>> game = StochasticGame.stage([[10.0, 0.0], [0.0, 2.0]], gamma=0.9)
    >>> world = GameWorld("mine", game, [0.0, 1.0])
    >>> world.step(0, 1, np.random.default_rng(0))
    WorldStep(state=0, observation=(0, 1), reward=2.0, terminated=False)
    >>> world.optimum(10)
    20.0
    """

    name: Annotated[str, "Name of the world."]
    game: Annotated[StochasticGame, "The game."] = field(repr=False)
    partner: Annotated[Floats | None, Shape("(S, B)"), "The other's probabilities, also (B,); None: uniform."] = None
    concentration: Annotated[float, "Prior count of each reward, in `default_prior`."] = 0.1
    setting: Annotated[Setting, "How the world is usually run."] = field(default=SETTING, repr=False)

    registered: ClassVar[str] = "game"

    def __post_init__(self) -> None:
        if not isinstance(self.game, StochasticGame):
            raise InvalidArgument("GameWorld", "game", "a StochasticGame", self.game)
        S, B = self.game.n_states, self.game.n_others
        given = np.full(B, 1.0 / B) if self.partner is None else self.partner
        object.__setattr__(self, "partner", check_strategy("GameWorld", "partner", given, S, B))

    @property
    def payoff(self) -> Floats:
        """The rewards of the joint actions in a game of one state, (A, B)."""
        if self.game.n_states > 1 or self.game.R.ndim > 3:
            raise InvalidArgument("payoff", "world", "a game of one state", self.name)
        return np.asarray(self.game.R[0])

    @property
    def gamma(self) -> float:
        """Discount."""
        return self.game.gamma

    @property
    def n_actions(self) -> int:
        """A."""
        return self.game.n_actions

    @property
    def n_observations(self) -> int:
        """S: the states, which are seen."""
        return self.game.n_states

    @property
    def answers(self) -> tuple[int, ...]:
        """The sizes of what is observed besides the state: one of the other's B actions."""
        return (self.game.n_others,)

    def default_prior(self) -> DirichletGame:
        """Unknown rewards among those of the game, unknown transitions, and an unknown strategy."""
        return DirichletGame.flat(self.game, self.concentration, values=np.unique(self.game.R), known=self._one)

    @property
    def _one(self) -> bool:
        return self.game.n_states == 1

    def optimum(self, steps: int | None = None) -> float:
        """Expected undiscounted total of the best response to the partner over a number of steps."""
        return optimal_total(
            self.game.against(np.asarray(self.partner)), self.setting.steps if steps is None else steps
        )

    def reset(self, rng: Generator) -> tuple[int, tuple[int, int]]:
        """The first state, and the observation of it."""
        generator(self.name, rng)
        return self.game.start, (self.game.start, NOTHING)

    def step(self, state: int, action: int, rng: Generator) -> WorldStep:
        """The other acts, and the joint action moves the state. Each step draws two random numbers."""
        s = integer(self.name, "state", state, 0, self.game.n_states - 1)
        a = integer(self.name, "action", action, 0, self.n_actions - 1)
        first, second = generator(self.name, rng).random(2)
        o = bisect_right(cumulative(np.asarray(self.partner)[s]), first)
        y = bisect_right(cumulative(self.game.P[s, a, o]), second)
        return WorldStep(y, (y, o), float(self.game.rewards()[s, a, o, y]), False)
