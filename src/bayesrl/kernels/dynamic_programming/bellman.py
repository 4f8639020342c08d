"""Backups, sweeps and policy evaluation on known MDPs, shared by the exact solvers.

A `Model` is an MDP in the form that compiled code reads: a matrix if the model is dense, successor lists otherwise.
Letters: v[s] values, q[s, a] action values, pi[s] a policy, T the Bellman operator, residual max |Tv - v|. Inner loops
read numbers of states and groups as unsigned: Numba tests a signed index for being negative, a quarter of the time.
"""

from typing import NamedTuple

import numpy as np

from bayesrl.kernels.arrays import F1, F2, I1, I2, I3
from bayesrl.kernels.jit import any_order, njit
from bayesrl.kernels.ties import margin, size, sizes

BLOCK = 64
"""Long sums are taken in blocks of this many terms, so that rounding errors grow with BLOCK + n / BLOCK, not with n."""


class Model(NamedTuple):
    """A known MDP. The rows of terminal states are empty, so their values are zero."""

    matrix: F2  # P, (S*A, S), or (0, 0) if successor lists are used
    succ: I3  # (S, A, K)
    prob: F2  # (G, K)
    group: I2  # (S, A)
    size: I1  # (G,), outcomes of each group
    r: F2  # (S, A), expected rewards
    gamma: float
    round_r: float
    round_v: float  # rounding moves one backup by at most round_r + round_v max|v|
    shiftable: bool  # there is no terminal state, so adding c to v adds gamma c to Tv


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
    """out <- P v for rows of at most BLOCK entries. Four rows at a time take half the time."""
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
    """Do the same for the rows s*A + pi[s] of P."""
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
def listed_products(succ: I3, prob: F2, group: I2, size: I1, v: F1, q: F2) -> None:
    """q <- P v for successor lists."""
    for s in range(q.shape[0]):
        for a in range(q.shape[1]):
            g, mean = np.uint32(group[s, a]), 0.0
            for k in range(size[g]):
                mean += prob[g, k] * v[np.uint32(succ[s, a, k])]
            q[s, a] = mean


@njit
def backup(m: Model, v: F1, q: F2) -> tuple[float, float]:
    """q <- r + gamma P v; returns the extremes of Tv - v."""
    matrix, succ, prob, group, size, r, gamma, _, _, _ = m
    S, A = r.shape
    if matrix.shape[0] == 0:
        listed_products(succ, prob, group, size, v, q)
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
def policy_backup(m: Model, pi: I1, v: F1, new: F1) -> tuple[float, float]:
    """new <- r + gamma P v under the policy; returns the extremes of new - v."""
    matrix, succ, prob, group, size, r, gamma, _, _, _ = m
    S, A = r.shape
    if matrix.shape[0] == 0:
        for s in range(S):
            g, mean = np.uint32(group[s, pi[s]]), 0.0
            for k in range(size[g]):
                mean += prob[g, k] * v[np.uint32(succ[s, pi[s], k])]
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
                g, mean = np.uint32(group[s, a]), 0.0
                for k in range(size[g]):
                    mean += prob[g, k] * v[np.uint32(succ[s, a, k])]
            q = r[s, a] + gamma * mean
            if q > top:
                top, best = q, a
        changes += best != pi[s]
        v[s], pi[s] = top, best
    return changes


# Accuracy ------------------------------------------------------------------------------------------------------------


@njit
def rounding_error(m: Model, v: F1) -> float:
    """A bound on the rounding error of one backup of v."""
    largest = 0.0
    for s in range(len(v)):
        largest = max(largest, abs(v[s]))
    return m.round_r + m.round_v * largest


@njit
def converged(m: Model, v: F1, low: float, high: float, target: float) -> bool:
    """Whether the residual is certainly within the target, or within three times the rounding error."""
    slack = rounding_error(m, v)
    return max(high, -low) + slack <= max(target, 3.0 * slack)


@njit
def largest(q: F2, s: int) -> float:
    """max_a q[s, a]; `q[s].max()` takes ten times as long."""
    top = q[s, 0]
    for a in range(1, q.shape[1]):
        top = max(top, q[s, a])
    return top


@njit
def improve(q: F2, pi: I1, slack: float) -> int:
    """Change an action only if another is better by more than the slack; returns the number of changes."""
    changes = 0
    for s in range(q.shape[0]):
        best, top, old = 0, q[s, 0], pi[s]
        for a in range(1, q.shape[1]):  # choices between numbers, which need no branch
            best, top = (a, q[s, a]) if q[s, a] > top else (best, top)
        pi[s] = best if top > q[s, np.uint32(old)] + slack else old
        changes += pi[s] != old
    return changes


# Evaluation ----------------------------------------------------------------------------------------------------------

SMALL, SMALL_DENSE = 200, 50
"""Number of states up to which elimination in compiled code is the fastest, with lists and with a matrix."""


def is_small(m: Model) -> bool:
    """Whether elimination in compiled code is the fastest method."""
    return len(m.r) <= (SMALL_DENSE if len(m.matrix) else SMALL)


@njit
def eliminate(m: Model, pi: I1, v: F1, work: F2) -> bool:
    """v <- the values of a policy, (I - gamma P) v = r, by elimination in work (S, S); False if the policy never ends.

    The matrix is diagonally dominant, so no pivoting is needed. Zeros are skipped, so a band matrix costs little.
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


# The error of a solution ---------------------------------------------------------------------------------------------


def bound_of(rate: float, rounding: float, low: float, high: float) -> float:
    """A bound on max |v - V*|, given the extremes of Tv - v, as computed, and a bound on their rounding error.

    T contracts by beta = 1 - rate: |v - V*| <= |Tv - v| + |Tv - TV*| <= residual + beta |v - V*|.
    """
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
