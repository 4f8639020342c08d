"""Bayesian multi-agent reinforcement learning (Chalkiadakis and Boutilier 2003; survey §7.3).

The player believes two things: what joint actions do (transitions and rewards), and what the other player does (its
strategy). Both follow from what it sees, as it sees the other's action after each step. The predictive strategy makes
the game an MDP, and the belief makes it a Bayes-adaptive one: an action is worth its reward and what it teaches.

    greedy       the optimal action values of the mean game against the predictive strategy
    lookahead    the exact value of `depth` steps of learning and acting, and `leaf` beyond
    vpi          E[Q] + value of perfect information, over games and strategies that are solved one by one

Paper to code: beliefs `RepeatedGame`, `DirichletGame`, `FiniteGames`; the choice `act`, the two updates `learn`; the
value of perfect information `value_of_perfect_information` (second best for the best action: ERRATA 3).
Deviations: the paper was not at hand; this follows the survey and public descriptions of the method. There is one other
player, which is believed to be stationary, or to depend on the last joint action (`history=1` of `DirichletGame`). That
is a model and no fact: in self-play the other learns. The paper's one-step lookahead and its value of information are
kept; its reweighting of sampled models is left out, as solving is cheap here.
Cost: lookahead of d steps has at most C(E + d, d) nodes, with E events of a step (equal beliefs are merged); vpi one
solution for each drawn model. Claims: values in exact arithmetic to depth 4; the computed totals of the fact sheet;
with known payoffs the best response is Bayes-optimal; vpi by enumeration on finite sets.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, Protocol, Self

import numpy as np
from numpy.random import Generator

from bayesrl.beliefs.choices import Ties, best_action, value_of_perfect_information
from bayesrl.beliefs.games.joint import state_seen
from bayesrl.beliefs.games.repeated_game import RepeatedGame
from bayesrl.capabilities import require
from bayesrl.checks import Floats, generator
from bayesrl.core import Decision
from bayesrl.errors import InvalidArgument
from bayesrl.parameters import AtLeast, value
from bayesrl.registry import register


class PlaysGames(Protocol):
    """A belief about a game and the other player, for the agent."""

    @property
    def n_states(self) -> int:
        """S."""

    @property
    def n_actions(self) -> int:
        """A."""

    def update(self, datum: Any, rng: Generator | None = None) -> Self:
        """The posterior after a joint transition."""

    def restart(self) -> Self:
        """The belief at the start of an episode."""

    def greedy_q(self, state: int) -> Floats:
        """Action values of the mean game against the predictive strategy, (A,)."""

    def lookahead_q(self, state: int, depth: int, leaf: str) -> Floats:
        """Values of `depth` steps in the belief tree, (A,)."""

    def value_draws(self, state: int, samples: int, rng: Generator) -> tuple[Floats, Floats]:
        """Action values in weighted models, (n, A), and their weights, (n,)."""


@register(
    "bayesian-marl",
    kind="agent",
    survey="7.3",
    paper="chalkiadakis03",
    example=lambda: BayesianMARL(RepeatedGame(payoff=np.array([[2.0, 0.0], [0.0, 1.0]])), choose="lookahead"),
    reading="The survey and public descriptions; one other player, and no reweighting of sampled models.",
    evidence=(
        "tests/multiagent/test_bayesian_marl.py::test_computed_totals",
        "tests/multiagent/test_bayesian_marl.py::test_lookahead_in_exact_arithmetic",
        "tests/multiagent/test_bayesian_marl.py::test_known_payoffs_make_the_best_response_optimal",
        "tests/multiagent/test_bayesian_marl.py::test_vpi_by_enumeration",
        "tests/beliefs/games/test_stochastic_games.py::test_lookahead_equals_the_recursion",
    ),
)
@value
class BayesianMARL:
    """Learn a game and the other player's strategy, and act greedily, by lookahead, or by value of information.

    Examples
    --------
    >>> import bayesrl as b
    >>> belief = b.multiagent.RepeatedGame(alpha=[[6, 6], [1, 1]], beta=[[5, 5], [1, 1]], strategy=[9, 1])
    >>> rng = np.random.default_rng(0)
    >>> for choose in ("greedy", "lookahead"):
    ...     agent = b.make("bayesian-marl", prior=belief, choose=choose, depth=3)
    ...     decision = agent.act(agent.start(), 0, rng)
    ...     print(choose, decision.action, decision.info["q"].round(3).tolist())
    greedy 0 [0.545, 0.5]
    lookahead 1 [1.663, 1.694]
    >>> mind = agent.learn(decision.memory, b.multiagent.JointTransition(0, 1, 0, 1.0, 0), rng)
    >>> mind.strategy.tolist()
    [10.0, 1.0]
    """

    prior: Annotated[PlaysGames, "What is believed about the game and the other: a RepeatedGame, for example."]
    choose: Annotated[Literal["greedy", "lookahead", "vpi"], "How actions are chosen from the belief."] = "greedy"
    depth: Annotated[int, AtLeast(1), 'With "lookahead": steps looked ahead, D.'] = 2
    leaf: Annotated[Literal["zero", "mean"], "The value beyond the last step: zero, or the mean model's."] = "zero"
    samples: Annotated[int, AtLeast(1), 'With "vpi": models drawn, k; a finite set is enumerated instead.'] = 50
    ties: Annotated[Ties, "What to do with equal actions: take the first, or one at random."] = "random"

    sees_others: ClassVar[bool] = True
    """`multiagent.run_game` gives it joint transitions."""

    def __post_init__(self) -> None:
        require("BayesianMARL", self.prior, PlaysGames)

    def start(self) -> PlaysGames:
        """The prior: all that the agent remembers is its belief."""
        return self.prior

    def act(self, mind: PlaysGames, observation: Any, rng: Generator) -> Decision:
        """Choose an action. `info["q"]` holds the values, and `info["vpi"]` the values of perfect information."""
        s = state_seen("BayesianMARL", observation, self._checked("act", mind).n_states)
        generator("BayesianMARL.act", rng)
        if self.choose == "vpi":
            q, vpi = value_of_perfect_information(*mind.value_draws(s, self.samples, rng))
            return Decision(best_action(q + vpi, self.ties, rng), mind, {"q": q, "vpi": vpi})
        q = mind.greedy_q(s) if self.choose == "greedy" else mind.lookahead_q(s, self.depth, self.leaf)
        return Decision(best_action(q, self.ties, rng), mind, {"q": q})

    def learn(self, mind: PlaysGames, transition: Any, rng: Generator) -> PlaysGames:
        """The belief after a joint transition, or a transition whose observations are pairs (state, other)."""
        after = self._checked("learn", mind).update(transition, rng)
        return after.restart() if transition.terminated or transition.truncated else after

    def _checked(self, method: str, mind: PlaysGames) -> PlaysGames:
        if type(mind) is not type(self.prior):
            raise InvalidArgument(f"BayesianMARL.{method}", "mind", "one that start, act or learn gave", mind)
        return mind
