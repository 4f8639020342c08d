"""Contractors of unknown ability who bid for projects together (Chalkiadakis and Boutilier 2010; survey §7.3).

The set-up is recalled, the numbers are ours: a handful of agents (five), three types of ability (0, 1 or 2 quality
points), three actions (a small, a medium or a large project) and three outcomes (failure, partial success, success). If
the members have s points together and a project needs n, each of its two halves succeeds with probability s / (s + n),
independently. Larger projects need more points and pay more, and the members share the payoff equally, so an agent
looks for few, able partners. Types are drawn uniformly; my own (of agent 0) is the middle one, and I know it.
"""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.random import Generator

from bayesrl._explained import explain_failures
from bayesrl.beliefs.games.coalitions import CoalitionProblem, TypeBelief
from bayesrl.checks import generator, indices, integer
from bayesrl.core import WorldStep
from bayesrl.errors import InvalidArgument
from bayesrl.parameters import DISCOUNT, Within, value
from bayesrl.registry import register
from bayesrl.worlds.settings import Published, Setting

REPEATED = Setting("uniform", steps=50)
"""Fifty rounds; the agent's prior is the distribution of worlds."""
NEEDS = (1.0, 3.0, 6.0)
"""Quality points at which half of a small, a medium, a large project succeeds."""
PAYS = ((0.0, 0.5, 1.0), (0.0, 1.5, 4.0), (0.0, 3.0, 12.0))
"""Payoff of failure, partial success and success of each project."""
LARGEST = 8
"""The most agents: with nine the table of outcomes is too large."""
NOTHING = -1
"""The observation before the first round."""


def contract(action: int, types: tuple[int, ...]) -> list[float]:
    """The probabilities of failure, partial success and success of a project of these members."""
    points = float(sum(types))
    p = points / (points + NEEDS[action])
    return [(1.0 - p) ** 2, 2.0 * p * (1.0 - p), p * p]


@explain_failures
@value
class CoalitionWorld(Published):
    """Agents with given types. An action is a pair (coalition, action), or the number of an option.

    What is seen is the number of the outcome.

    Examples
    --------
    >>> from numpy.random import default_rng
    >>> world = coalitions(agents=3).draw(default_rng(0))
    >>> world.types
    (1, 1, 1)
    >>> world.step(None, ((0, 1), 2), default_rng(0))
    WorldStep(state=None, observation=1, reward=1.5, terminated=False)
    """

    problem: Annotated[CoalitionProblem, "The agents and what they may do."]
    types: Annotated[tuple[int, ...], "The true types of all agents."]
    name: Annotated[str, "Name of the world."] = "coalitions"
    setting: Annotated[Setting, "How the world is usually run."] = field(default=REPEATED, repr=False)

    registered: ClassVar[str] = "coalitions"

    def __post_init__(self) -> None:
        if not isinstance(self.problem, CoalitionProblem):
            raise InvalidArgument("CoalitionWorld", "problem", "a CoalitionProblem", self.problem)
        sizes = self.problem.types
        types = indices("CoalitionWorld", "types", np.asarray(self.types), (len(sizes),), max(sizes))
        if (types >= np.array(sizes)).any():
            raise InvalidArgument("CoalitionWorld", "types", f"below the numbers of types {sizes}", self.types)
        object.__setattr__(self, "types", tuple(int(t) for t in types))

    @property
    def gamma(self) -> float:
        """Discount."""
        return self.problem.gamma

    @property
    def n_actions(self) -> int:
        """The number of options."""
        return len(self.problem.options)

    @property
    def n_observations(self) -> int:
        """The number of outcomes; before the first round NOTHING is seen."""
        return self.problem.rewards.shape[1]

    def reset(self, rng: Generator) -> tuple[None, int]:
        """There is no state, and nothing is seen yet."""
        return None, NOTHING

    def step(self, state: None, action: Any, rng: Generator) -> WorldStep:
        """A round: the outcome is drawn, and the reward is my share of the payoff."""
        m = self.problem.read(self.name, action)
        cumulative = np.cumsum(self.problem.laws[m, self._profile])
        u = generator(self.name, rng).random()
        o = min(int(np.searchsorted(cumulative, u, side="right")), len(cumulative) - 1)
        members, a = self.problem.options[m]
        return WorldStep(None, o, float(self.problem.rewards[a, o]) / len(members))

    def gap(self, state: object, action: Any) -> float:
        """The best expected share, if all types were known, minus that of the chosen option."""
        shares = self.problem.payoffs[self._profile]
        return float(shares.max() - shares[self.problem.read(self.name, action)])

    def default_prior(self) -> TypeBelief:
        """The distribution that types are drawn from, given my own."""
        return prior_of(self.problem, self.types[self.problem.me])

    @property
    def _profile(self) -> int:
        return int(np.ravel_multi_index(self.types, self.problem.types))


@explain_failures
@value
class CoalitionFamily(Published):
    """Worlds whose types are drawn uniformly, but for my own.

    Examples
    --------
    >>> from numpy.random import default_rng
    >>> CoalitionFamily(problem_of(4), ability=2).draw(default_rng(0)).types
    (2, 1, 1, 0)
    """

    problem: Annotated[CoalitionProblem, "The agents and what they may do."]
    ability: Annotated[int, Within(0, 2), "My own type."] = 1
    setting: Annotated[Setting, "How the family is usually run."] = field(default=REPEATED, repr=False)

    registered: ClassVar[str] = "coalitions"

    def __post_init__(self) -> None:
        if not isinstance(self.problem, CoalitionProblem):
            raise InvalidArgument("CoalitionFamily", "problem", "a CoalitionProblem", self.problem)
        prior_of(self.problem, self.ability)

    @property
    def gamma(self) -> float:
        """Discount."""
        return self.problem.gamma

    @property
    def n_actions(self) -> int:
        """The number of options."""
        return len(self.problem.options)

    @property
    def n_observations(self) -> int:
        """The number of outcomes; before the first round NOTHING is seen."""
        return self.problem.rewards.shape[1]

    def draw(self, rng: Generator) -> CoalitionWorld:
        """A world of this family."""
        drawn = generator("coalitions", rng).integers(self.problem.types)
        types = tuple(self.ability if i == self.problem.me else int(t) for i, t in enumerate(drawn))
        return CoalitionWorld(self.problem, types, "coalitions", self.setting)

    def default_prior(self) -> TypeBelief:
        """The distribution that types are drawn from."""
        return prior_of(self.problem, self.ability)


def prior_of(problem: CoalitionProblem, ability: int) -> TypeBelief:
    """The type of `me` is known, the others are uniform."""
    marginals, own = [np.full(T, 1.0 / T) for T in problem.types], problem.types[problem.me]
    marginals[problem.me] = np.eye(own)[integer("coalitions", "ability", ability, 0, own - 1)]
    return TypeBelief.independent(problem, marginals)


def problem_of(agents: int, gamma: float = 1.0, me: int = 0) -> CoalitionProblem:
    """The contractors as agent `me` sees them."""
    n = integer("coalitions", "agents", agents, 1, LARGEST)
    return CoalitionProblem((3,) * n, contract, np.array(PAYS), me, gamma)


@register(
    "coalitions",
    kind="family",
    survey="7.3",
    paper="chalkiadakis10",
    evidence=("tests/worlds/games/test_coalitions_world.py::test_steps_follow_the_contract",),
)
def coalitions(
    agents: Annotated[int, Within(1, LARGEST), "Number of agents, n."] = 5,
    ability: Annotated[int, Within(0, 2), "My own type, in quality points."] = 1,
    gamma: Annotated[float, DISCOUNT, "Discount."] = 1.0,
) -> CoalitionFamily:
    """Contractors of unknown ability who bid for projects together and share the payoff.

    Examples
    --------
    >>> family = coalitions(agents=3)
    >>> family.default_prior().joint.shape
    (3, 3, 3)
    """
    return CoalitionFamily(problem_of(agents, gamma), ability)
