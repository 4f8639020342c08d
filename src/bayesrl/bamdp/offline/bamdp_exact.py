"""Exact Bayes-optimal values over a finite horizon (Duff 2002; survey §4.1, eq. ValFuncBAMDP).

Dynamic programming over the hyper-states (s, phi) that can be reached within the horizon, where phi are the counts the
belief would hold. Hyper-states with equal counts are one, in whatever order the outcomes came. This is the oracle for
every planner of the family: slow, and obviously right.

    Q_d(s, phi, a) = sum_k phi_{g k} / phi_g [ r_k + gamma V_{d-1}(s_k, phi + e_{g k}) ],   V_0 = 0,   g = group(s, a)

The outcomes seen since the root are one integer, a digit for each cell (g, k): adding an outcome adds a power of the
base, so merging is dictionary look-up. Unknown rewards of finitely many values are a second urn, drawn with the first.
A sparse Dirichlet's urn holds what was seen; its predictive is that of `sparse_dirichlet.py`.

Deviations: the survey's Algorithm 1 copies one row of phi and returns no action (ERRATA 4); all of phi is meant.
Cost: the number of reachable hyper-states, at most (S A K)^horizon before merging. Claims: equal to an enumeration of
all histories; equal to the finite-horizon solution when everything is known.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.special import softmax

from bayesrl.beliefs.tabular._unknown_rewards import UnknownRewards
from bayesrl.beliefs.tabular.dirichlet_mdp import DirichletMDP
from bayesrl.beliefs.tabular.sparse_dirichlet import SparseDirichletMDP, log_weights
from bayesrl.checks import Floats, integer
from bayesrl.errors import InvalidArgument
from bayesrl.registry import register


def exact_q(belief: Any, state: int, horizon: int) -> Floats:
    """Bayes-optimal action values of a state with `horizon` decisions to go, q[a].

    >>> from bayesrl import DirichletMDP, make_world
    >>> exact_q(DirichletMDP.structured(make_world("chain-tied")), 0, horizon=1)
    array([1., 1.])
    """
    integer("exact_q", "horizon", horizon, 0)
    tree = HyperTree(belief, horizon)
    s = integer("exact_q", "state", state, 0, belief.n_states - 1)
    if horizon == 0 or belief.outcomes.terminal[s]:
        return np.zeros(belief.n_actions)
    return np.array([tree.q(s, 0, a, horizon) for a in range(belief.n_actions)])


@register(
    "bamdp-exact",
    kind="solver",
    survey="4.1",
    paper="duff02",
    evidence=(
        "tests/bamdp/test_exact.py::test_exact_equals_brute_force",
        "tests/bamdp/test_exact.py::test_known_model_equals_finite_horizon",
        "tests/bamdp/test_exact.py::test_exact_with_unknown_rewards_equals_brute_force",
        "tests/bamdp/test_exact.py::test_exact_with_unknown_supports_equals_brute_force",
    ),
)
@dataclass(frozen=True, slots=True)
class BAMDPExact:
    """Exact finite-horizon Bayes-optimal values by dynamic programming over reachable hyper-states."""

    horizon: int = 5
    """Decisions to go."""

    def __post_init__(self) -> None:
        integer("BAMDPExact", "horizon", self.horizon, 1)

    def solve(self, problem: Any, rng: Generator | None = None) -> Floats:
        """Root values q[s, a] of the belief for every state."""
        return np.array([exact_q(problem, s, self.horizon) for s in range(problem.n_states)])


class Urn(NamedTuple):
    """One unknown distribution: its counts, and the digit of each of its cells. A known one has no digits."""

    alpha: list[float]
    digits: list[int]
    sparse: tuple[float, float] | None = None
    """Of a sparse Dirichlet, whose counts are what was seen: the count of an outcome, and the exponent of sizes."""


class HyperTree:
    """Values of hyper-states, memoised. A hyper-state is (s, the outcomes seen since the root, decisions to go)."""

    def __init__(self, belief: Any, horizon: int) -> None:
        transitions = belief.transitions if isinstance(belief, UnknownRewards) else belief
        if not isinstance(transitions, DirichletMDP | SparseDirichletMDP):
            raise InvalidArgument(
                "exact_q", "belief", "a DirichletMDP, SparseDirichletMDP or UnknownRewards", type(belief).__name__
            )
        if belief is not transitions and not hasattr(belief.rewards, "reward_predictive"):
            raise InvalidArgument("exact_q", "belief", "with finitely many rewards", type(belief.rewards).__name__)
        self.belief, self.o, self.gamma = belief, belief.outcomes, belief.gamma
        self.base = horizon + 1  # no cell can be seen more often than there are decisions
        K = self.o.n_outcomes
        if isinstance(transitions, SparseDirichletMDP):
            alpha, known = transitions.seen_counts, np.zeros(self.o.n_groups, np.bool_)
            sparse = (transitions.concentration, transitions.size_exponent)
        else:
            alpha, known, sparse = transitions.alpha, transitions.known, None
        self.rows = [
            Urn(alpha[g, :n].tolist(), [] if known[g] else [self.base ** (g * K + k) for k in range(n)], sparse)
            for g, n in enumerate(self.o.size.tolist())
        ]
        self.paid = self._reward_urns(len(self.rows) * K) if belief is not transitions else None
        self.memo: dict[tuple[int, int, int], float] = {}

    def _reward_urns(self, first: int) -> dict[tuple[int, ...], tuple[Urn, list[float]]]:
        """The urn and the values of each reward cell."""
        values, alpha = self.belief.rewards.value_counts()
        V = len(values)
        cells = np.ndindex(*self.belief.rewards.mean_rewards().shape)
        return {
            cell: (Urn(alpha[c].tolist(), [self.base ** (first + c * V + j) for j in range(V)]), values.tolist())
            for c, cell in enumerate(cells)
        }

    def v(self, s: int, seen: int, d: int) -> float:
        """V_d(s, phi)."""
        if d == 0 or self.o.terminal[s]:
            return 0.0
        key = (s, seen, d)
        if key not in self.memo:
            self.memo[key] = max(self.q(s, seen, a, d) for a in range(self.o.n_actions))
        return self.memo[key]

    def q(self, s: int, seen: int, a: int, d: int) -> float:
        """Q_d(s, phi, a)."""
        urn = self.rows[self.o.group[s, a]]
        total = 0.0
        for k, p in enumerate(self.predictive(urn, seen)):
            if p == 0.0:
                continue
            y = int(self.o.succ[s, a, k])
            then = seen + (urn.digits[k] if urn.digits else 0)
            if self.paid is None:
                total += p * (float(self.o.reward[s, a, k]) + self.gamma * self.v(y, then, d - 1))
                continue
            pay, values = self.paid[self.belief.cell(s, a, k)]
            for r, pr, digit in zip(values, self.predictive(pay, seen), pay.digits, strict=True):
                total += p * pr * (r + self.gamma * self.v(y, then + digit, d - 1))
        return total

    def predictive(self, urn: Urn, seen: int) -> list[float]:
        """Probability of each outcome of an urn after the outcomes seen: (alpha_k + n_k) / sum."""
        if not urn.digits:
            return urn.alpha
        count = [alpha + (seen // digit) % self.base for alpha, digit in zip(urn.alpha, urn.digits, strict=True)]
        if urn.sparse is not None:
            k0, N, L = sum(c > 0.0 for c in count), sum(count), len(count)
            old, new = sparse_predictive(k0, N, L, *urn.sparse)
            return [old * (urn.sparse[0] + c) if c > 0.0 else new for c in count]
        total = sum(count)
        return [c / total for c in count]


@cache
def sparse_predictive(k0: int, N: float, L: int, alpha: float, exponent: float) -> tuple[float, float]:
    """E[1 / (k alpha + N)], which an outcome seen N_i times has alpha + N_i times, and the chance of one not seen."""
    size = softmax(log_weights([k0], [N], [L], alpha, exponent, L)[0])
    old = float((size / (np.arange(1, L + 1) * alpha + N)).sum())
    return old, max(0.0, 1.0 - (k0 * alpha + N) * old) / max(L - k0, 1)
