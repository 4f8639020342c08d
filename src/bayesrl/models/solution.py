"""Problems and solutions of the exact solvers.

A problem is a `TabularMDP`, or anything that has one as `.mdp` (a world): see `reading.py`. A solution has a proven
bound on the distance of its values from the optimal ones: see `error_bound`. `solve_by` runs an algorithm on a problem
and bounds the error.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayesrl._shown import shown
from bayesrl.checks import ROW_SUM_TOLERANCE, Floats, array, frozen, number
from bayesrl.errors import NotConverged
from bayesrl.kernels.arrays import F2, I1
from bayesrl.kernels.dynamic_programming.bellman import BLOCK, Model, largest, rounding_error
from bayesrl.kernels.jit import njit
from bayesrl.kernels.ties import margin, size, sizes
from bayesrl.models.mdp import TabularMDP
from bayesrl.models.policy import TabularPolicy
from bayesrl.models.reading import Problem, mdp_of

Indices = NDArray[np.int64]

UNIT = 2.0**-53
"""Relative rounding of one operation in double precision."""
LISTS = frozen(np.zeros((0, 0)))
"""An empty matrix, which means that successor lists are used."""


class Solution(NamedTuple):
    """The optimal values of a known MDP, up to a known error."""

    values: Floats
    """V(s), shape (S,)."""
    q: Floats
    """R(s, a) + gamma sum_s' P(s'|s, a) V(s') for these values, shape (S, A)."""
    policy: TabularPolicy
    """The first action of each state that may be optimal, given the error. It is an agent, and it can be used like an
    array of shape (S,)."""
    error_bound: float
    """max |values - V*| is at most this, rounding included."""
    iterations: int
    """Number of policies or sweeps, depending on the method."""
    method: str
    """The solver that was used."""

    def __repr__(self) -> str:
        return shown(self)


def model_of(mdp: TabularMDP, bonus: Floats | None = None, gamma: float | None = None) -> Model:
    """Convert an MDP to the form that kernels read, with a bonus (S, A) on its rewards and empty terminal rows."""
    outcomes = mdp.outcomes
    S, A, K = outcomes.succ.shape
    flat = outcomes.is_flat
    dense = flat or (S > BLOCK and 2 * K > S)
    matrix = mdp.matrix if dense else LISTS
    prob, group, size, r = mdp.prob, outcomes.group, outcomes.size, mdp.mean_reward
    extra = 0.0
    if bonus is not None:
        r, extra = frozen(r + bonus), float(np.abs(bonus).max())
    if outcomes.has_terminals:  # flat outcomes have no terminal states
        empty = outcomes.terminal[:, None]
        group = frozen(np.where(empty, np.int32(len(size)), group))
        prob, size = frozen(np.vstack([prob, np.zeros((1, K))])), frozen(np.append(size, np.int32(0)))
        r = frozen(np.where(empty, 0.0, r))
        matrix = frozen(np.where(np.repeat(empty, A)[:, None], 0.0, matrix)) if dense else matrix
    # The error of a sum of n products is at most n units times the sum of their sizes; r is a sum of K products.
    discount = mdp.gamma if gamma is None else gamma
    terms = K if not dense else min(S, BLOCK) + S / BLOCK + (0 if flat else K)
    round_r = UNIT * ((K + 4) * outcomes.largest_reward + 4 * extra)
    round_v = UNIT * (terms + 4) * discount
    return Model(matrix, outcomes.succ, prob, group, size, r, discount, round_r, round_v, not outcomes.has_terminals)


def contraction(m: Model) -> float:
    """1 - beta for a bound beta on gamma times the sum of any row; 0 if that is not below 1."""
    excess = ROW_SUM_TOLERANCE
    if m.gamma > 1.0 - 1e-6:  # here the exact sums of the rows matter
        excess = max(float(m.prob.sum(axis=1).max()) - 1.0, 0.0) + m.prob.shape[1] * UNIT
    return max(1.0 - m.gamma * (1.0 + excess), 0.0)


def error_bound(m: Model, v: Floats, low: float, high: float) -> float:
    """A bound on max |v - V*|, given the extremes of Tv - v.

    T contracts by beta: |v - V*| <= |Tv - v| + |Tv - TV*| <= residual + beta |v - V*|. The residual was computed in
    floating point; `rounding_error` bounds its error.
    """
    return bound_of(contraction(m), rounding_error(m, v), low, high)


def bound_of(rate: float, rounding: float, low: float, high: float) -> float:
    """`error_bound` of a model with this contraction and this rounding error."""
    return (max(high, -low) + rounding) / rate if rate > 0.0 else np.inf


@njit
def first_best(q: F2, error: float) -> I1:
    """The first action of each state whose true value may be the largest, if every q has at most this error."""
    best, scale = np.zeros(len(q), np.int32), sizes(q)
    for s in range(len(q)):
        cut = largest(q, s) - max(2.0 * error, margin(size(q[s]), scale))
        for a in range(q.shape[1]):
            if q[s, a] >= cut:
                best[s] = a
                break
    return best


# Algorithms ----------------------------------------------------------------------------------------------------------


class Iterate(NamedTuple):
    """The last values of an algorithm."""

    values: Floats
    q: Floats
    """One backup of the values."""
    low: float
    high: float
    """The extremes of max_a q - values."""
    iterations: int


Algorithm = Callable[[Model, Floats | None, float], Iterate]
"""A function of a model, initial values or None (they may be overwritten), and the target of the residual."""


def solve_by(
    problem: Problem,
    algorithm: Algorithm,
    method: str,
    tol: float = 1e-9,
    initial: ArrayLike | None = None,
    bonus: ArrayLike | None = None,
) -> Solution:
    """Run an algorithm on a problem and bound the error of its solution."""
    mdp = mdp_of(problem)
    S, A = mdp.group.shape
    tol = number("solve", "tol", tol, 0.0, above=True)
    extra = None if bonus is None else array("solve", "bonus", bonus, (S, A))
    v = None if initial is None else array("solve", "initial", initial, (S,)).copy()
    if mdp.gamma == 1.0:
        from bayesrl.models.solvers.episodic import solve_undiscounted

        return solve_undiscounted(mdp, algorithm, method, tol, v, extra)
    m = model_of(mdp, extra)
    if v is not None and not m.shiftable:
        v[mdp.outcomes.terminal] = 0.0
    rate = contraction(m)
    v, q, low, high, iterations = algorithm(m, v, tol * rate)
    rounding = rounding_error(m, v)
    bound = bound_of(rate, rounding, low, high)
    policy = TabularPolicy.unchecked(first_best(q, bound), A)
    solution = Solution(v, q, policy, bound, iterations, method)
    if not (math.isfinite(bound) and rate * bound <= max(rate * tol, 3.0 * rounding)):
        raise NotConverged(method, solution, bound, f"{iterations} iterations")
    return solution
