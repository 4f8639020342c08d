"""Backups, sweeps and policy evaluation on known MDPs: what the exact solvers share.

A `Model` is an MDP as compiled code reads it: a dense matrix when that is what the model is, successor lists otherwise.
Letters: v[s] values, q[s, a] action values, pi[s] a policy, T the Bellman operator, residual max |Tv - v|.
"""

from typing import NamedTuple

import numpy as np

from bayesrl.kernels.arrays import F1, F2, I1, I2, I3
from bayesrl.kernels.jit import any_order, njit

BLOCK = 64
"""Long sums are taken in blocks of this many terms: their rounding grows with BLOCK + n / BLOCK instead of n."""
MANY, FEW = 500, 16
"""Beyond this many states, and up to this many outcomes of each (s, a), rows of a policy are gathered before sweeps."""


class Model(NamedTuple):
    """A known MDP. Rows of terminal states are empty: their values are zero."""

    matrix: F2  # P, (S*A, S), or (0, 0) if the lists are to be used
    succ: I3  # (S, A, K)
    prob: F2  # (G, K)
    group: I2  # (S, A)
    size: I1  # (G,), outcomes of each group
    r: F2  # (S, A), expected rewards
    gamma: float
    round_r: float
    round_v: float  # rounding moves one backup by at most round_r + round_v max|v|
    free: bool  # no terminal state: adding c to v adds gamma c to Tv


# One backup ----------------------------------------------------------------------------------------------------------


@any_order
def short_dot(p: F1, v: F1) -> float:
    """Sum of p[k] v[k] in any order."""
    total = 0.0
    for k in range(len(p)):
        total += p[k] * v[k]
    return total


@any_order
def row_sums(p: F1, w: F1) -> tuple[float, float, float]:
    """Sums of p[k], of |p[k]| and of p[k] w[k]."""
    total, weight, mean = 0.0, 0.0, 0.0
    for k in range(len(p)):
        total += p[k]
        weight += abs(p[k])
        mean += p[k] * w[k]
    return total, weight, mean


@njit
def dot(p: F1, v: F1) -> float:
    """Sum of p[k] v[k] in blocks."""
    total = 0.0
    for k in range(0, len(p), BLOCK):
        total += short_dot(p[k : k + BLOCK], v[k : k + BLOCK])
    return total


@any_order
def short_products(P: F2, v: F1, out: F1) -> None:
    """out <- P v for rows of at most BLOCK entries; four rows at a time take half the time."""
    n = 0
    while n + 4 <= len(out):
        a, b, c, d = 0.0, 0.0, 0.0, 0.0
        for y in range(len(v)):
            x = v[y]
            a += P[n, y] * x
            b += P[n + 1, y] * x
            c += P[n + 2, y] * x
            d += P[n + 3, y] * x
        out[n], out[n + 1], out[n + 2], out[n + 3] = a, b, c, d
        n += 4
    while n < len(out):
        out[n] = short_dot(P[n], v)
        n += 1


@any_order
def short_products_of(pi: I1, P: F2, v: F1, out: F1) -> None:
    """The same for the rows s*A + pi[s] of P."""
    S = len(v)
    A = len(P) // S
    s = 0
    while s + 4 <= S:
        i, j, k, l = s * A + pi[s], (s + 1) * A + pi[s + 1], (s + 2) * A + pi[s + 2], (s + 3) * A + pi[s + 3]
        a, b, c, d = 0.0, 0.0, 0.0, 0.0
        for y in range(S):
            x = v[y]
            a += P[i, y] * x
            b += P[j, y] * x
            c += P[k, y] * x
            d += P[l, y] * x
        out[s], out[s + 1], out[s + 2], out[s + 3] = a, b, c, d
        s += 4
    while s < S:
        out[s] = short_dot(P[s * A + pi[s]], v)
        s += 1


@njit
def backup(m: Model, v: F1, q: F2) -> tuple[float, float]:
    """q <- r + gamma P v; returns the extremes of Tv - v."""
    matrix, succ, prob, group, size, r, gamma, _, _, _ = m
    S, A = r.shape
    if matrix.shape[0] == 0:
        for s in range(S):
            for a in range(A):
                g, mean = group[s, a], 0.0
                for k in range(size[g]):
                    mean += prob[g, k] * v[succ[s, a, k]]
                q[s, a] = mean
    elif S <= BLOCK:
        short_products(matrix, v, q.reshape(S * A))
    else:
        for s in range(S):
            for a in range(A):
                q[s, a] = dot(matrix[s * A + a], v)
    low, high = np.inf, -np.inf
    for s in range(S):
        top = -np.inf
        for a in range(A):
            q[s, a] = r[s, a] + gamma * q[s, a]
            top = max(top, q[s, a])
        low, high = min(low, top - v[s]), max(high, top - v[s])
    return low, high


@njit
def follow(m: Model, pi: I1, v: F1, new: F1) -> tuple[float, float]:
    """new <- r + gamma P v under the policy; returns the extremes of new - v."""
    matrix, succ, prob, group, size, r, gamma, _, _, _ = m
    S, A = r.shape
    if matrix.shape[0] == 0:
        for s in range(S):
            g, mean = group[s, pi[s]], 0.0
            for k in range(size[g]):
                mean += prob[g, k] * v[succ[s, pi[s], k]]
            new[s] = mean
    elif S <= BLOCK:
        short_products_of(pi, matrix, v, new)
    else:
        for s in range(S):
            new[s] = dot(matrix[s * A + pi[s]], v)
    low, high = np.inf, -np.inf
    for s in range(S):
        new[s] = r[s, pi[s]] + gamma * new[s]
        low, high = min(low, new[s] - v[s]), max(high, new[s] - v[s])
    return low, high


@njit
def sweep(m: Model, v: F1, pi: I1, order: I1) -> int:
    """Gauss-Seidel: v[s] <- max_a r + gamma P v for the states in `order`; returns the number of changes of pi."""
    matrix, succ, prob, group, size, r, gamma, _, _, _ = m
    A = r.shape[1]
    changes = 0
    for s in order:
        top, best = -np.inf, 0
        for a in range(A):
            if matrix.shape[0] > 0:
                mean = dot(matrix[s * A + a], v)
            else:
                g, mean = group[s, a], 0.0
                for k in range(size[g]):
                    mean += prob[g, k] * v[succ[s, a, k]]
            q = r[s, a] + gamma * mean
            if q > top:
                top, best = q, a
        changes += best != pi[s]
        v[s], pi[s] = top, best
    return changes


# How exact an answer is ----------------------------------------------------------------------------------------------


@njit
def noise(m: Model, v: F1) -> float:
    """A bound on the rounding error of one backup of v."""
    largest = 0.0
    for s in range(len(v)):
        largest = max(largest, abs(v[s]))
    return m.round_r + m.round_v * largest


@njit
def enough(m: Model, v: F1, low: float, high: float, target: float) -> bool:
    """Whether the residual is certainly within the target, or within three times the rounding error."""
    slack = noise(m, v)
    return max(high, -low) + slack <= max(target, 3.0 * slack)


@njit
def improve(q: F2, pi: I1, slack: float) -> int:
    """Change an action only if another is better by more than the slack; returns the number of changes."""
    changes = 0
    for s in range(q.shape[0]):
        best = 0
        for a in range(1, q.shape[1]):
            if q[s, a] > q[s, best]:
                best = a
        if q[s, best] > q[s, pi[s]] + slack:
            pi[s] = best
            changes += 1
    return changes


# Whole solvers -------------------------------------------------------------------------------------------------------


@njit
def eliminate(m: Model, pi: I1, v: F1, work: F2) -> bool:
    """v <- the values of a policy, (I - gamma P) v = r, by elimination in work (S, S); False if the policy never ends.

    The matrix is diagonally dominant: no pivoting is needed. Zeros are skipped, so a band costs little.
    """
    matrix, succ, prob, group, size, r, gamma, _, _, _ = m
    S, A = r.shape
    for s in range(S):
        a, g = pi[s], group[s, pi[s]]
        v[s] = r[s, a]
        if matrix.shape[0] > 0:
            for y in range(S):
                work[s, y] = -gamma * matrix[s * A + a, y]
        else:
            work[s, :] = 0.0
            for k in range(size[g]):
                work[s, succ[s, a, k]] -= gamma * prob[g, k]
        work[s, s] += 1.0
    for k in range(S):
        if not work[k, k] > 1e-14:
            return False
        for i in range(k + 1, S):
            if work[i, k] != 0.0:
                f = work[i, k] / work[k, k]
                for j in range(k + 1, S):
                    work[i, j] -= f * work[k, j]
                v[i] -= f * v[k]
    for k in range(S - 1, -1, -1):
        v[k] = (v[k] - short_dot(work[k, k + 1 :], v[k + 1 :])) / work[k, k]
    return True


@njit
def howard(m: Model, v: F1, q: F2, pi: I1, target: float, limit: int) -> tuple[int, float, float]:
    """Policy iteration by elimination from the policy that is greedy for v; returns (iterations, low, high).

    v and q are those of the last policy. Iterations is negative if some policy on the way never ends (gamma = 1).
    """
    work = np.empty((len(v), len(v)))
    low, high = backup(m, v, q)
    improve(q, pi, -np.inf)
    for n in range(1, limit + 1):
        if not eliminate(m, pi, v, work):
            return -n, low, high
        low, high = backup(m, v, q)
        if enough(m, v, low, high, target) or improve(q, pi, 4.0 * noise(m, v)) == 0:
            return n, low, high
    return limit, low, high


@njit
def relax(
    m: Model, v: F1, q: F2, pi: I1, target: float, limit: int, sweeps: int, patient: bool
) -> tuple[int, float, float]:
    """Modified policy iteration with shifted values; returns (iterations, low, high), iterations < 0 if it gave up.

    After each backup the policy is followed until its sweeps change a twentieth of what the backup changed, for at most
    `sweeps` sweeps. If that is not enough and we are not patient, the problem mixes too slowly, and we give up. We also
    give up if rounding stops all progress: on a cycle of states a sweep may change less than the last digit of a value.
    Without terminal states V* lies between v + low/(1-gamma) and v + high/(1-gamma) (MacQueen, Porteus): v is moved to
    the middle of it after every sweep, which leaves only the span high - low to be brought down.
    """
    S, K = len(v), m.succ.shape[2]
    new = np.empty(S)
    free = m.free and m.gamma < 1.0
    c = 0.5 * m.gamma / (1.0 - m.gamma) if free else 0.0
    gathers = has_short_rows(m)
    y, p, r = np.empty((S * gathers, K), np.uint32), np.empty((S * gathers, K)), np.empty(S * gathers)
    patience = min(limit, 10.0 + 1.0 / (1.0 - m.gamma)) if m.gamma < 1.0 else limit  # sweeps halve the gap in less
    least, since = np.inf, 0
    for n in range(1, limit + 1):
        low, high = backup(m, v, q)
        if enough(m, v, low, high, target):
            return n, low, high
        if gap(low, high, free) < 0.5 * least:
            least, since = gap(low, high, free), n
        elif n - since > patience:
            return -n, low, high
        improve(q, pi, 0.0)
        for s in range(S):
            v[s] = q[s, pi[s]] + c * (low + high)
        goal = max(0.05 * gap(low, high, free), 0.5 * target)
        if gathers:
            gather(m, pi, y, p, r)
            done, low, high = follow_gathered(y, p, r, v, new, m.gamma, free, goal, sweeps)
        else:
            done = False
            for _ in range(sweeps):
                low, high = follow(m, pi, v, new)
                for s in range(S):
                    v[s] = new[s] + c * (low + high)
                if gap(low, high, free) <= goal:
                    done = True
                    break
        if not (done or patient):
            return -n, low, high
    return -limit, low, high


@njit
def has_short_rows(m: Model) -> bool:
    """Whether the model is one of many states with few outcomes each, whose sweeps are faster on gathered rows."""
    S, _, K = m.succ.shape
    return m.matrix.shape[0] == 0 and S > MANY and K <= FEW


@njit
def gather(m: Model, pi: I1, y: I2, p: F2, r: F1) -> None:
    """The rows of a policy side by side: next states y (S, K), gamma times probabilities p (S, K), rewards r (S,)."""
    for s in range(len(r)):
        a, g = pi[s], m.group[s, pi[s]]
        r[s] = m.r[s, a]
        for k in range(y.shape[1]):
            y[s, k], p[s, k] = (m.succ[s, a, k], m.gamma * m.prob[g, k]) if k < m.size[g] else (0, 0.0)


@njit
def follow_gathered(
    y: I2, p: F2, r: F1, v: F1, new: F1, gamma: float, free: bool, goal: float, sweeps: int
) -> tuple[bool, float, float]:
    """Follow a policy on gathered rows, shifted as in `relax`; returns whether the goal was reached, low and high.

    The shift is kept apart as one number: T(v + shift) = Tv + gamma shift.
    """
    c = 0.5 * gamma / (1.0 - gamma) if free else 0.0
    here, there, shift, low, high, done = v, new, 0.0, 0.0, 0.0, False
    for _ in range(sweeps):
        low, high = sweep_gathered(y, p, r, here, there)
        low, high = low - (1.0 - gamma) * shift, high - (1.0 - gamma) * shift
        shift = gamma * shift + c * (low + high)
        here, there = there, here
        if gap(low, high, free) <= goal:
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
def gap(low: float, high: float, free: bool) -> float:
    """What still has to fall: the span, or the residual if values may not be shifted."""
    return high - low if free else max(high, -low)
