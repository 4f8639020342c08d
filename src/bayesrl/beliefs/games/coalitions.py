"""Types of agents in coalitions, and what outcomes tell about them (Chalkiadakis and Boutilier 2010; survey §7.3).

Each agent has a type, which nobody else knows for certain. A coalition takes an action; its outcome is random and
depends on the types of the members. A belief is a *joint* distribution over the types of all agents: after one outcome
of two agents their types are dependent, so a product of marginals would be wrong.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cached_property, reduce
from itertools import combinations, product
from typing import Annotated, Any

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from bayesrl._explained import explain_failures
from bayesrl.checks import Floats, array, frozen, generator, integer, rows_sum_to_one, sequence
from bayesrl.core import Transition
from bayesrl.errors import ImpossibleEvidence, InvalidArgument
from bayesrl.parameters import DISCOUNT, AtLeast, Shape, unchecked, value

MOST = 20_000_000
"""Largest number of entries in the table of outcomes: coalitions, actions, type profiles, outcomes."""

Coalition = tuple[int, ...]
"""The numbers of the members, in increasing order."""
Option = tuple[Coalition, int]
"""A coalition and its action."""


@explain_failures
@value
class CoalitionProblem:
    """Who may work together, what may come of it, and what it pays; the members share the payoff equally.

    `types` has an entry for each agent: the number of its types, which are then 0, 1, ..., or a list of their labels.
    `outcome(action, types)` gives the probabilities of the outcomes, (O,), where `types` is the tuple of the members'
    types, in the order of the members' numbers. It is called once for each action and tuple when the problem is made.
    Afterwards `outcome` is the table (coalitions with me, A, type profiles of all agents, O), and `types` are numbers.

    Examples
    --------
    >>> def outcome(action, types):  # failure or success; every able member (type 1) helps
    ...     p = 0.3 * sum(types)
    ...     return [1.0 - p, p]
    >>> problem = CoalitionProblem([2, 2, 2], outcome, rewards=[[0.0, 6.0]])
    >>> problem.coalitions
    ((0,), (0, 1), (0, 2), (0, 1, 2))
    """

    types: Annotated[tuple[int, ...], "Number of types of each agent, or their labels."]
    outcome: Annotated[Any, "outcome(action, members' types): probabilities of the outcomes."]
    rewards: Annotated[Floats, Shape("(A, O)"), "Payoff of each outcome of each action, to the whole coalition."]
    me: Annotated[int, AtLeast(0), "The agent that decides: it is a member of every coalition considered."] = 0
    gamma: Annotated[float, DISCOUNT, "Discount of later rounds."] = 1.0

    def __post_init__(self) -> None:
        owner = "CoalitionProblem"
        labels = [_labels(x) for x in sequence(owner, "types", self.types, "one entry for each agent")]
        if not labels:
            raise InvalidArgument(owner, "types", "one entry for each agent", self.types)
        A, O = array(owner, "rewards", self.rewards, (None, None)).shape
        integer(owner, "me", self.me, 0, len(labels) - 1)
        sizes = tuple(map(len, labels))
        log_entries = math.log(2.0) * (len(sizes) - 1) + sum(map(math.log, (*sizes, A, O)))
        if log_entries > math.log(MOST):
            expected = f"so few that coalitions, actions, type profiles and outcomes make at most {MOST} entries"
            raise InvalidArgument(owner, "types", expected, sizes)
        object.__setattr__(self, "types", sizes)
        object.__setattr__(self, "gamma", float(self.gamma))
        shape = (len(self.coalitions), A, math.prod(sizes), O)
        if callable(self.outcome):
            table = self._tabulate(self.outcome, labels).reshape(shape)
        elif isinstance(self.outcome, np.ndarray):
            table = array(owner, "outcome", self.outcome, shape, low=0.0)
            table = rows_sum_to_one(owner, "outcome", table)
        else:
            raise InvalidArgument(owner, "outcome", "a function outcome(action, types)", self.outcome)
        object.__setattr__(self, "outcome", frozen(table))

    def _tabulate(self, outcome: Callable[[int, tuple[Any, ...]], ArrayLike], labels: list[list[Any]]) -> Floats:
        """The table (coalitions, A, T_1, ..., T_n, O) of a function. Types of non-members do not matter."""
        A, O = self.rewards.shape
        table = np.empty((len(self.coalitions), A, *self.types, O))
        known: dict[Any, Floats] = {}
        for c, members in enumerate(self.coalitions):
            for a, numbers in product(range(A), product(*(range(self.types[i]) for i in members))):
                types = tuple(labels[i][t] for i, t in zip(members, numbers, strict=True))
                if (a, types) not in known:
                    known[a, types] = _probabilities(outcome, a, types, O)
                place: list[Any] = [slice(None)] * len(self.types)
                for i, t in zip(members, numbers, strict=True):
                    place[i] = t
                table[(c, a, *place)] = known[a, types]
        return table

    # What is read off ------------------------------------------------------------------------------------------------

    @cached_property
    def coalitions(self) -> tuple[Coalition, ...]:
        """All coalitions that contain `me`, the smallest first."""
        n = len(self.types)
        return tuple(c for k in range(1, n + 1) for c in combinations(range(n), k) if self.me in c)

    @cached_property
    def options(self) -> tuple[Option, ...]:
        """The pairs (coalition, action) to choose among."""
        return tuple((c, a) for c in self.coalitions for a in range(len(self.rewards)))

    @cached_property
    def laws(self) -> Floats:
        """Probability of an outcome of an option, given the type profile: (options, profiles, O)."""
        return frozen(self.outcome.reshape(len(self.options), -1, self.rewards.shape[1]))

    @cached_property
    def payoffs(self) -> Floats:
        """The expected share of each member under an option, given the type profile: (profiles, options)."""
        sizes = np.array([len(c) for c in self.coalitions])
        share = self.rewards[None] / sizes[:, None, None]  # (coalitions, A, O)
        return frozen(np.einsum("mno,mo->nm", self.laws, share.reshape(len(self.options), -1)))

    def option(self, owner: str, coalition: Any, action: Any) -> int:
        """The number of an option; refuse what is none."""
        expected = f"different agents from 0 to {len(self.types) - 1}, among them {self.me}"
        members = sequence(owner, "coalition", coalition, expected)
        for i in members:
            if isinstance(i, (bool, np.bool_)) or not isinstance(i, (int, np.integer)):
                raise InvalidArgument(owner, "coalition", expected, coalition)
        ordered = tuple(sorted(map(int, members)))
        if ordered not in self.coalitions:
            raise InvalidArgument(owner, "coalition", expected, coalition)
        A = len(self.rewards)
        return self.coalitions.index(ordered) * A + integer(owner, "action", action, 0, A - 1)

    def read(self, owner: str, action: Any) -> int:
        """The number of an option that is given as a pair (coalition, action), or by its number."""
        if isinstance(action, (int, np.integer)) and not isinstance(action, bool):
            return integer(owner, "action", action, 0, len(self.options) - 1)
        pair = sequence(owner, "action", action, "a pair (coalition, action)")
        if len(pair) != 2:
            raise InvalidArgument(owner, "action", "a pair (coalition, action)", action)
        return self.option(owner, pair[0], pair[1])


@explain_failures
@value
class TypeBelief:
    """A joint distribution over the types of all agents. A datum is (coalition, action, outcome), or a transition.

    Examples
    --------
    >>> problem = CoalitionProblem([1, 2, 2], lambda a, types: [1 - 0.4 * sum(types), 0.4 * sum(types)], [[0.0, 1.0]])
    >>> belief = TypeBelief.independent(problem, [[1.0], [0.5, 0.5], [0.5, 0.5]])
    >>> after = belief.update(((0, 1, 2), 0, 1))  # success: one of them is able
    >>> after.marginal(1).tolist(), after.joint[0].tolist()
    ([0.25, 0.75], [[0.0, 0.25], [0.25, 0.5]])
    """

    problem: Annotated[CoalitionProblem, "The agents, their types and what they may do."]
    joint: Annotated[Floats, AtLeast(0), Shape("(T_1, ..., T_n)"), "Probability of each profile of types."]

    def __post_init__(self) -> None:
        _check_problem("TypeBelief", self.problem)
        joint = array("TypeBelief", "joint", self.joint, self.problem.types, low=0.0)
        rows_sum_to_one("TypeBelief", "joint", joint.reshape(1, -1), self.joint)

    @classmethod
    def independent(cls, problem: CoalitionProblem, marginals: Sequence[ArrayLike]) -> TypeBelief:
        """A prior under which types are independent; `marginals` has the probabilities of each agent's types."""
        owner = "TypeBelief.independent"
        _check_problem(owner, problem)
        expected = f"the probabilities of the types of each of {len(problem.types)} agents"
        rows = sequence(owner, "marginals", marginals, expected)
        if len(rows) != len(problem.types):
            raise InvalidArgument(owner, "marginals", expected, marginals)
        each = [array(owner, "marginals", p, (T,), low=0.0) for p, T in zip(rows, problem.types, strict=True)]
        for given, p in zip(rows, each, strict=True):
            rows_sum_to_one(owner, "marginals", p[None], given)
        return cls(problem, reduce(np.multiply.outer, [p / p.sum() for p in each]))

    @classmethod
    def uniform(cls, problem: CoalitionProblem) -> TypeBelief:
        """Every profile of types is equally probable."""
        _check_problem("TypeBelief.uniform", problem)
        return cls(problem, np.full(problem.types, 1.0 / math.prod(problem.types)))

    def update(self, datum: Any, rng: Generator | None = None) -> TypeBelief:
        """The joint posterior after (coalition, action, outcome); of a transition, the outcome is what is seen next."""
        owner = "TypeBelief.update"
        if isinstance(datum, Transition):
            m, seen = self.problem.read(owner, datum.action), datum.next_observation
        else:
            parts = sequence(owner, "datum", datum, "(coalition, action, outcome)")
            if len(parts) != 3:
                raise InvalidArgument(owner, "datum", "(coalition, action, outcome)", datum)
            m, seen = self.problem.option(owner, parts[0], parts[1]), parts[2]
        o = integer(owner, "outcome", seen, 0, self.problem.rewards.shape[1] - 1)
        weight = self.joint * self.problem.laws[m, :, o].reshape(self.joint.shape)
        total = float(weight.sum())
        if total <= 0.0:
            raise ImpossibleEvidence("TypeBelief", datum, "no type profile allows this outcome")
        return unchecked(self, joint=frozen(weight / total))

    def marginal(self, agent: int) -> Floats:
        """The probability of each type of one agent."""
        i = integer("TypeBelief.marginal", "agent", agent, 0, self.joint.ndim - 1)
        others = tuple(j for j in range(self.joint.ndim) if j != i)
        return frozen(np.asarray(self.joint.sum(axis=others)))

    def predictive(self, coalition: Any, action: int) -> Floats:
        """The probability of each outcome of an option, (O,)."""
        m = self.problem.option("TypeBelief.predictive", coalition, action)
        return frozen(self.joint.ravel() @ self.problem.laws[m])

    def sample(self, rng: Generator) -> tuple[int, ...]:
        """A profile of types drawn from the belief."""
        flat = generator("TypeBelief.sample", rng).choice(self.joint.size, p=self.joint.ravel() / self.joint.sum())
        return tuple(int(t) for t in np.unravel_index(int(flat), self.joint.shape))


def _labels(entry: Any) -> list[Any]:
    """The types of an agent, given as their number or as their labels."""
    owner, expected = "CoalitionProblem", "for each agent the number of its types, or a list of them"
    if isinstance(entry, (int, np.integer)) and not isinstance(entry, bool):
        return list(range(integer(owner, "types", entry, 1, MOST)))
    if isinstance(entry, (str, bytes)):
        raise InvalidArgument(owner, "types", expected, entry)
    labels = list(sequence(owner, "types", entry, expected))
    if not labels:
        raise InvalidArgument(owner, "types", expected, entry)
    return labels


def _probabilities(outcome: Callable[[int, tuple[Any, ...]], ArrayLike], a: int, types: Any, O: int) -> Floats:
    """The probabilities that a user's function gives, checked."""
    owner, expected = "CoalitionProblem", f"a function (action, types) that gives {O} probabilities"
    try:
        given = outcome(a, types)
    except Exception as wrong:
        raise InvalidArgument(owner, "outcome", expected, outcome, f"For {(a, types)} it failed: {wrong}.") from wrong
    p = array(owner, "outcome", given, (O,), low=0.0)
    row: Floats = rows_sum_to_one(owner, "outcome", p[None], given)[0]
    return row


def _check_problem(owner: str, given: object) -> None:
    if not isinstance(given, CoalitionProblem):
        raise InvalidArgument(owner, "problem", "a CoalitionProblem", given)
