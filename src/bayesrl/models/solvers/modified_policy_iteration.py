"""Modified policy iteration (Puterman and Shin 1978; Puterman 1994, sections 6.5 and 6.6; survey §2.2).

A backup considers every action. After each backup the greedy policy is evaluated by a number of sweeps, which consider
one action in each state. The evaluation need not be exact. This is the fastest method if the problem mixes fast, since
the span then shrinks by a large factor in every sweep. It is slow on grids and rings: see `policy_iteration`.

Paper to code: the kernel `iterate_sweeps`. Deviations: the number of sweeps is not fixed. Sweeps end when they change a
twentieth of what the backup changed. On deterministic cycles at discounts close to 1, rounding can stop all progress;
policy iteration, which is the limit of infinitely many sweeps, then finishes.
Cost: a sweep costs 1/A of a backup.
"""

from __future__ import annotations

import numpy as np

from bayesrl.checks import Floats
from bayesrl.kernels.arrays import F1, F2, I1, I2
from bayesrl.kernels.dynamic_programming.bellman import Model, backup, converged, improve, policy_backup, rounding_error
from bayesrl.kernels.jit import any_order, njit
from bayesrl.models.solution import Iterate
from bayesrl.models.solvers.policy_iteration import policy_iteration

SWEEPS = 10
"""Largest number of sweeps on one policy."""
LIMIT = 100_000
"""Largest number of policies."""
FAST = 30
"""Largest number of sweeps on one policy of a problem that mixes fast: its span shrinks by a tenth in each sweep."""

MANY, FEW = 500, 16
"""A policy's rows are gathered before its sweeps if there are more than MANY states and at most FEW outcomes."""


def modified_policy_iteration(m: Model, v: Floats | None, target: float) -> Iterate:
    """Iterate from v until the residual is at most the target."""
    found = iterate(m, v, target, SWEEPS, True)
    if converged(m, found.values, found.low, found.high, target):
        return found
    last = policy_iteration(m, found.values, target)
    return last._replace(iterations=found.iterations + last.iterations)


def if_fast_mixing(m: Model, v: Floats | None, target: float) -> Iterate:
    """Iterate in the same way, but give up as soon as the problem turns out to mix slowly."""
    return iterate(m, v, target, FAST, False)


def iterate(m: Model, v: Floats | None, target: float, sweeps: int, patient: bool) -> Iterate:
    """Run the kernel. If it gave up, measure the residual of its last values."""
    q = np.empty(m.r.shape)
    v = m.r.max(axis=1) if v is None else v
    n, low, high = iterate_sweeps(m, v, q, np.zeros(len(v), np.int64), target, LIMIT, sweeps, patient)
    if n < 0:
        low, high = backup(m, v, q)
    return Iterate(v, q, low, high, abs(n))


@njit
def iterate_sweeps(
    m: Model, v: F1, q: F2, pi: I1, target: float, limit: int, sweeps: int, patient: bool
) -> tuple[int, float, float]:
    """Modified policy iteration with shifted values; returns (iterations, low, high), iterations < 0 if it gave up.

    After each backup the policy is evaluated by at most `sweeps` sweeps, until they change a twentieth of what the
    backup changed. If they fail and `patient` is False, the problem mixes too slowly, and the function gives
    up. It also gives up if rounding stops all progress: on a cycle of states a sweep may change less than the last
    digit of a value. Without terminal states V* lies between v + low/(1-gamma) and v + high/(1-gamma) (MacQueen,
    Porteus). After every sweep v is moved to the middle of this interval, so that only the span high - low must shrink.
    """
    S, K = len(v), m.succ.shape[2]
    new = np.empty(S)
    shiftable = m.shiftable and m.gamma < 1.0
    c = 0.5 * m.gamma / (1.0 - m.gamma) if shiftable else 0.0
    gathers = has_short_rows(m)
    y, p, r = np.empty((S * gathers, K), np.uint32), np.empty((S * gathers, K)), np.empty(S * gathers)
    there = np.full(S * gathers, -1)
    patience = (
        min(limit, 10.0 + 1.0 / (1.0 - m.gamma)) if m.gamma < 1.0 else limit
    )  # the gap halves in fewer iterations than this
    least, since = np.inf, 0
    for n in range(1, limit + 1):
        low, high = backup(m, v, q)
        if converged(m, v, low, high, target):
            return n, low, high
        if gap(low, high, shiftable) < 0.5 * least:
            least, since = gap(low, high, shiftable), n
        elif n - since > patience:
            return -n, low, high
        improve(q, pi, rounding_error(m, v))
        for s in range(S):
            v[s] = q[s, pi[s]] + c * (low + high)
        goal = max(0.05 * gap(low, high, shiftable), 0.5 * target)
        if gathers:
            gather(m, pi, there, y, p, r)
            done, low, high = follow_gathered(y, p, r, v, new, m.gamma, shiftable, goal, sweeps)
        else:
            done = False
            for _ in range(sweeps):
                low, high = policy_backup(m, pi, v, new)
                for s in range(S):
                    v[s] = new[s] + c * (low + high)
                if gap(low, high, shiftable) <= goal:
                    done = True
                    break
        if not (done or patient):
            return -n, low, high
    return -limit, low, high


@njit
def has_short_rows(m: Model) -> bool:
    """Whether the model has many states with few outcomes each. Its sweeps are then faster on gathered rows."""
    S, _, K = m.succ.shape
    return m.matrix.shape[0] == 0 and S > MANY and K <= FEW


@njit
def gather(m: Model, pi: I1, there: I1, y: I2, p: F2, r: F1) -> None:
    """Copy the rows of a policy: next states y (S, K), gamma times probabilities p (S, K), rewards r (S,).

    `there` are the actions whose rows are there already; only a few of them differ from the policy after a backup.
    """
    for s in range(len(r)):
        if pi[s] == there[s]:
            continue
        a, g = pi[s], m.group[s, pi[s]]
        there[s], r[s] = a, m.r[s, a]
        for k in range(y.shape[1]):
            y[s, k], p[s, k] = (m.succ[s, a, k], m.gamma * m.prob[g, k]) if k < m.size[g] else (0, 0.0)


@njit
def follow_gathered(
    y: I2, p: F2, r: F1, v: F1, new: F1, gamma: float, shiftable: bool, goal: float, sweeps: int
) -> tuple[bool, float, float]:
    """Sweep a policy on gathered rows, shifted as in `iterate_sweeps`; returns (goal reached, low, high).

    The shift is stored as one number, since T(v + shift) = Tv + gamma shift.
    """
    c = 0.5 * gamma / (1.0 - gamma) if shiftable else 0.0
    here, there, shift, low, high, done = v, new, 0.0, 0.0, 0.0, False
    for _ in range(sweeps):
        low, high = sweep_gathered(y, p, r, here, there)
        low, high = low - (1.0 - gamma) * shift, high - (1.0 - gamma) * shift
        shift = gamma * shift + c * (low + high)
        here, there = there, here
        if gap(low, high, shiftable) <= goal:
            done = True
            break
    for s in range(len(v)):
        v[s] = here[s] + shift
    return done, low, high


@any_order
def sweep_gathered(y: I2, p: F2, r: F1, v: F1, new: F1) -> tuple[float, float]:
    """new <- r + p v on gathered rows; returns the extremes of new - v."""
    low, high = np.inf, -np.inf
    for s in range(len(r)):
        x = r[s]
        for k in range(y.shape[1]):
            x += p[s, k] * v[y[s, k]]
        new[s] = x
        low, high = min(low, x - v[s]), max(high, x - v[s])
    return low, high


@njit
def gap(low: float, high: float, shiftable: bool) -> float:
    """The quantity that must become small: the span, or the residual if values may not be shifted."""
    return high - low if shiftable else max(high, -low)
