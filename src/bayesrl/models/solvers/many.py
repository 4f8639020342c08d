"""Solve many MDPs of one shape at once, for methods that sample models.

One compiled call makes the sweeps of `solve` for all models, with the same error bound. A model that mixes too slowly
for sweeps is solved by policy iteration. Cost: a few microseconds for each model of 20 states and 4 actions.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bayesrl.checks import ROW_SUM_TOLERANCE, Floats, array, frozen, number, row_tolerance, rows_sum_to_one
from bayesrl.errors import InvalidArgument, NotConverged
from bayesrl.kernels.arrays import B1, F2, F3, I1, I2
from bayesrl.kernels.dynamic_programming.bellman import Model, bound_of, converged, rounding_error, row_sums
from bayesrl.kernels.jit import njit
from bayesrl.models.mdp import LISTS, UNIT, TabularMDP, contraction, model_of
from bayesrl.models.outcomes import Outcomes
from bayesrl.models.solvers.modified_policy_iteration import FAST, iterate_sweeps
from bayesrl.models.solvers.policy_iteration import policy_iteration

OWNER = "solve_many"
POLICIES = 1000
"""Largest number of policies of one model."""


def solve_many(
    outcomes: Outcomes,
    prob: ArrayLike,
    gamma: float,
    *,
    tol: float = 1e-9,
    rewards: ArrayLike | None = None,
    initial: ArrayLike | None = None,
) -> tuple[Floats, Floats]:
    """Optimal values (n, S) and action values (n, S, A) of n models with probabilities prob[n, G, K].

    `rewards` (n, S, A) replaces the expected rewards of the outcomes. `initial` (n, S) are initial values. Every value
    is within `tol` of its optimum, or within the error that double precision allows.
    """
    if not isinstance(outcomes, Outcomes):
        raise InvalidArgument(OWNER, "outcomes", "Outcomes", type(outcomes).__name__)
    S, A, K = outcomes.succ.shape
    gamma = number(OWNER, "gamma", gamma, 0.0, 1.0, below=True)
    tol = number(OWNER, "tol", tol, 0.0, above=True)
    p = probabilities(prob, outcomes)
    n = len(p)
    r, largest = np.empty((n, S, A)), outcomes.largest_reward
    if not expected(p, outcomes.reward, outcomes.group, outcomes.size, r):
        raise_invalid(p, outcomes)
    if rewards is not None:
        r = np.where(outcomes.terminal[:, None], 0.0, array(OWNER, "rewards", rewards, (n, S, A)))
        largest = float(np.abs(r).max())
    m = model_of(TabularMDP.unchecked(outcomes, p[0].copy(), gamma))
    m = m._replace(matrix=m.prob if outcomes.is_flat else LISTS, round_r=UNIT * (K + 4) * largest)
    v = row_maxima(r) if initial is None else array(OWNER, "initial", initial, (n, S)).copy()
    if not m.shiftable:
        v[:, outcomes.terminal] = 0.0
        p = np.concatenate([p, np.zeros((n, 1, K))], axis=1)  # the empty group of terminal states
    q = np.empty((n, S, A))
    p, r, target = frozen(p), frozen(r), tol * contraction(m)
    for i in np.flatnonzero(sweep_each(m, p, r, v, q, target)):
        v[i], q[i], low, high, _ = policy_iteration(one := select_model(m, p, r, int(i)), v[i], target)
        if not converged(one, v[i], low, high, target):
            error = bound_of(contraction(one), rounding_error(one, v[i]), low, high)
            raise NotConverged(OWNER, (v, q), error, f"{POLICIES} policies of model {i}")
    return v, q


def probabilities(prob: ArrayLike, outcomes: Outcomes) -> Floats:
    """Convert probabilities to a read-only array of the right shape. `expected` checks that rows are distributions."""
    shape = (outcomes.n_groups, outcomes.n_outcomes)
    if (
        isinstance(prob, np.ndarray)
        and prob.ndim == 3
        and prob.shape[1:] == shape
        and prob.dtype == np.float64
        and len(prob)
    ):
        return frozen(np.ascontiguousarray(prob).view())
    p = array(OWNER, "prob", prob, (None, *shape))
    return rows_sum_to_one(OWNER, "prob", p, prob) if row_tolerance(prob) > ROW_SUM_TOLERANCE else p


def raise_invalid(p: Floats, outcomes: Outcomes) -> None:
    """Raise the error for probabilities that are not distributions."""
    array(OWNER, "prob", p, low=0.0)
    rows_sum_to_one(OWNER, "prob", p)
    if p[:, ~outcomes.valid].any():
        raise InvalidArgument(OWNER, "prob", "zero on padding", float(p[:, ~outcomes.valid].max()))


@njit
def expected(prob: F3, reward: F3, group: I2, size: I1, r: F3) -> bool:
    """r <- expected rewards, (n, S, A); returns False if some row may not be a distribution over its outcomes."""
    good = True
    S, A = group.shape
    for i in range(len(prob)):
        for s in range(S):
            for a in range(A):
                g = group[s, a]
                total, weight, r[i, s, a] = row_sums(prob[i, g], reward[s, a])
                good &= abs(total - 1.0) <= ROW_SUM_TOLERANCE and weight == total
                for k in range(size[g], prob.shape[2]):
                    good &= prob[i, g, k] == 0.0
    return good


@njit
def row_maxima(r: F3) -> F2:
    """The maximum over the last axis."""
    v = np.empty(r.shape[:2])
    for i in range(r.shape[0]):
        for s in range(r.shape[1]):
            v[i, s] = r[i, s, 0]
            for a in range(1, r.shape[2]):
                v[i, s] = max(v[i, s], r[i, s, a])
    return v


@njit
def sweep_each(m: Model, prob: F3, r: F3, v: F2, q: F3, target: float) -> B1:
    """Sweep the models one after the other; returns which of them mix too slowly."""
    slow = np.zeros(len(v), np.bool_)
    pi = np.zeros(v.shape[1], np.int64)
    for i in range(len(v)):
        done, _, _ = iterate_sweeps(select_model(m, prob, r, i), v[i], q[i], pi, target, POLICIES, FAST, False)
        slow[i] = done < 0
    return slow


@njit
def select_model(m: Model, prob: F3, r: F3, i: int) -> Model:
    """Model i."""
    matrix = prob[i] if len(m.matrix) else m.matrix
    return Model(matrix, m.succ, prob[i], m.group, m.size, r[i], m.gamma, m.round_r, m.round_v, m.shiftable)
