"""Exact Bayes-optimal values over a finite horizon (Duff 2002; survey §4.1, eq. ValFuncBAMDP).

Dynamic programming over the hyper-states (s, phi) that can be reached within the horizon; phi are the belief's counts.
Histories with equal counts share a hyper-state. This slow and simple method is the oracle for every planner of the
family.

    Q_d(s, phi, a) = sum_k phi_{g k} / phi_g [ r_k + gamma V_{d-1}(s_k, phi + e_{g k}) ],   V_0 = 0,   g = group(s, a)

A first pass lists the hyper-states that can be reached at each decision. A second pass computes their values from the
last decision to the first. One integer encodes the outcomes seen since the root, with a digit for each cell (g, k), so
adding an outcome adds a power of the base. Unknown rewards with finitely many values are further rows, drawn after the
transition. The belief provides its rows and their predictive probabilities (`exact_rows`).

Deviations: the survey's Algorithm 1 copies one row of phi and returns no action (ERRATA 4); here all of phi is used.
Cost: the number of reachable hyper-states, at most (S A K)^horizon before merging. Claims: equal to an enumeration of
all histories; equal to the finite-horizon solution if everything is known.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import DTypeLike, NDArray

from bayesrl.bamdp._checks import state_in
from bayesrl.beliefs.choices import best_action
from bayesrl.capabilities import ExactRow, ExactRows, ListsExactRows, require
from bayesrl.checks import Floats, frozen, integer
from bayesrl.core import Decision, Transition
from bayesrl.models.reads_as_array import ReadsAsArray
from bayesrl.parameters import AtLeast, declared, value
from bayesrl.registry import register

HyperState = tuple[int, int]
"""A state, and the outcomes seen since the root."""


def exact_q(belief: ListsExactRows, state: int, horizon: int) -> Floats:
    """Bayes-optimal action values of a state with `horizon` decisions to go, q[a].

    >>> from bayesrl import DirichletMDP, make_world
    >>> exact_q(DirichletMDP.structured(make_world("chain-tied")), 0, horizon=1)
    array([1., 1.])
    """
    integer("exact_q", "horizon", horizon, 0)
    require("exact_q", belief, ListsExactRows)
    s = integer("exact_q", "state", state, 0, belief.n_states - 1)
    if horizon == 0 or belief.outcomes.terminal[s]:
        return np.zeros(belief.n_actions)
    return HyperTree(belief, horizon).root_q(s)


@register(
    "bamdp-exact",
    kind="solver",
    survey="4.1",
    paper="duff02",
    example=lambda: BAMDPExact(horizon=2),
    evidence=(
        "tests/bamdp/offline/test_exact.py::test_exact_equals_brute_force",
        "tests/bamdp/offline/test_exact.py::test_known_model_equals_finite_horizon",
        "tests/bamdp/offline/test_exact.py::test_exact_with_unknown_rewards_equals_brute_force",
        "tests/bamdp/offline/test_exact.py::test_exact_with_unknown_supports_equals_brute_force",
        "tests/bamdp/offline/test_exact.py::test_long_horizons_need_no_recursion",
        "tests/bamdp/offline/test_exact.py::test_the_solution_earns_what_it_promises",
    ),
)
@declared
class BAMDPExact:
    """Exact finite-horizon Bayes-optimal values by dynamic programming over reachable hyper-states.

    Examples
    --------
    >>> from bayesrl import DirichletMDP, make_world
    >>> solution = BAMDPExact(horizon=6).solve(DirichletMDP.structured(make_world("chain-tied")))
    >>> solution.q.round(2)[:2]
    array([[8.21, 8.21],
           [9.92, 9.92]])
    """

    horizon: Annotated[int, AtLeast(1), "Decisions to go."] = 5

    def solve(self, problem: ListsExactRows, rng: Generator | None = None) -> ExactSolution:
        """Root values of the belief for every state, and the planner that earns them. No random numbers are drawn."""
        require("BAMDPExact", problem, ListsExactRows)
        q = np.array([exact_q(problem, s, self.horizon) for s in range(problem.n_states)])
        return ExactSolution(self, frozen(q))


@value
class ExactSolution(ReadsAsArray):
    """The Bayes-optimal values of a prior. It is a planner that earns them, and it reads like the array of values.

    The planner solves the present belief again for the decisions that are left. After the last decision, and after the
    end of an episode, it starts with `horizon` decisions again.

    Examples
    --------
    >>> import bayesrl as b
    >>> world = b.make_world("chain-tied")
    >>> prior = b.DirichletMDP.structured(world)
    >>> agent = b.BayesAgent(prior, BAMDPExact(horizon=4).solve(prior))
    >>> print(b.run(agent, world, steps=40, seed=0).total)
    58.0
    """

    solver: BAMDPExact
    """The solver that made it."""
    q: Floats
    """Root values of the prior, q[s, a]."""

    needs: ClassVar[tuple[type, ...]] = (ListsExactRows,)

    def start(self) -> int:
        """The number of decisions left, which is all it remembers."""
        return self.solver.horizon

    def plan(
        self, belief: ListsExactRows, observation: int, memory: int, rng: Generator, last: Transition | None = None
    ) -> Decision:
        """Take the action of the largest exact value; ties to the first."""
        s = state_in("ExactSolution", belief, observation)
        left = self.solver.horizon if memory == 0 or (last is not None and last.ends_episode) else memory
        q = exact_q(belief, s, left)
        return Decision(best_action(q, "first", rng), left - 1, {"q": q, "left": left})

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        return self.q if dtype is None and not copy else np.array(self.q, dtype)


class Row(NamedTuple):
    """One distribution, and the digit of each of its outcomes; a known row has no digits."""

    row: ExactRow
    digits: list[int]


class HyperTree:
    """The hyper-states that can be reached from a root within `horizon` decisions."""

    def __init__(self, belief: ListsExactRows, horizon: int) -> None:
        found: ExactRows = belief.exact_rows()
        self.o, self.gamma, self.horizon = belief.outcomes, belief.gamma, horizon
        self.pay, self.rewards = found.pay, found.values
        self.base = horizon + 1  # an outcome is seen at most once per decision
        self.rows, digit = [], 1
        for row in found.rows:
            digits = []
            for _ in row.counts if row.learns else ():
                digits.append(digit)
                digit *= self.base
            self.rows.append(Row(row, digits))

    def root_q(self, s: int) -> Floats:
        """Q_H(s, phi, a) of the root for every action."""
        reached: list[set[HyperState]] = [{(s, 0)}]
        for _ in range(self.horizon - 1):
            reached.append({new for old in reached[-1] for new in self.after(old) if not self.o.terminal[new[0]]})
        values: dict[HyperState, float] = {}  # there is no reward after the last decision
        for states in reversed(reached[1:]):
            values = {state: max(self.q(state, a, values) for a in range(self.o.n_actions)) for state in states}
        return np.array([self.q((s, 0), a, values) for a in range(self.o.n_actions)])

    def after(self, state: HyperState) -> Iterator[HyperState]:
        """The hyper-states that one decision may lead to."""
        for a in range(self.o.n_actions):
            for _, _, new in self.outcomes(state, a):
                yield new

    def q(self, state: HyperState, a: int, values: dict[HyperState, float]) -> float:
        """Q_d(s, phi, a) from the values V_{d-1}; a hyper-state that is not among them has ended and is worth 0."""
        total = 0.0
        for p, r, new in self.outcomes(state, a):
            total += p * (r + self.gamma * values.get(new, 0.0))
        return total

    def outcomes(self, state: HyperState, a: int) -> Iterator[tuple[float, float, HyperState]]:
        """(probability, reward, next hyper-state) of each possible outcome of an action."""
        s, seen = state
        row = self.rows[self.o.group[s, a]]
        for k, p in enumerate(self.predictive(row, seen)):
            if p == 0.0:
                continue
            y, then = int(self.o.succ[s, a, k]), seen + (row.digits[k] if row.digits else 0)
            if self.pay is None:
                yield p, float(self.o.reward[s, a, k]), (y, then)
                continue
            cell = self.rows[self.pay[s, a, k]]
            for r, chance, digit in zip(self.rewards, self.predictive(cell, seen), cell.digits, strict=True):
                yield p * chance, r, (y, then + digit)

    def predictive(self, row: Row, seen: int) -> list[float]:
        """Probability of each outcome of a row after the outcomes seen."""
        (counts, _, predictive), digits = row
        if not digits:
            return counts
        return predictive([n + (seen // digit) % self.base for n, digit in zip(counts, digits, strict=True)])
