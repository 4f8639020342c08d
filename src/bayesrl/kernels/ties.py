"""Choices between computed values: differences below a tolerance are ties (docs/adr/0005-ties-and-rounding.md).

Values x tie if they differ by at most max(RELATIVE max|x|, ROUNDING scale). `scale` is the size of the numbers that
were added up: give it where values can cancel to zero. A value that is not a number is never best; without any number
all tie. Infinite values tie with their like only, and do not widen the tolerance.

All functions are compiled, and cheap to call from Python: a fraction of the time of `np.argmax`.
"""

import numpy as np
from numpy.random import Generator

from bayesrl.kernels.arrays import B2, F1, F2, I1
from bayesrl.kernels.jit import inlined, njit

RELATIVE = 1e-9
"""Tolerance in units of the values that are compared."""
ROUNDING = 1e-13
"""Tolerance in units of the numbers that the values were computed from."""


@inlined
def size(x: F1) -> float:
    """The largest finite |x|; zero if there is none."""
    most = 0.0
    for v in x:
        if most < abs(v) < np.inf:
            most = abs(v)
    return most


@njit
def sizes(x: F2) -> float:
    """The largest finite |x| of a table."""
    most = 0.0
    for i in range(len(x)):
        most = max(most, size(x[i]))
    return most


@inlined
def margin(most: float, scale: float = 0.0) -> float:
    """How far apart values of this size may be and still tie."""
    return max(RELATIVE * most, ROUNDING * scale)


@njit
def threshold(x: F1, scale: float = 0.0) -> float:
    """The smallest number that ties with the largest entry."""
    top = -np.inf
    for v in x:
        if v > top:
            top = v
    return top - margin(size(x), scale)


@njit
def best(x: F1, scale: float = 0.0) -> tuple[int, int]:
    """The first of the best entries, and how many there are."""
    top, second, most, first = -np.inf, -np.inf, 0.0, 0
    for i in range(len(x)):
        v = x[i]
        if v > top:
            top, second, first = v, top, i
        elif v > second:
            second = v
        if most < abs(v) < np.inf:
            most = abs(v)
    apart = margin(most, scale)
    if top - second > apart:
        return first, 1
    cut, first, n = top - apart, 0, 0
    for i in range(len(x)):
        if x[i] >= cut:
            if n == 0:
                first = i
            n += 1
    return (first, n) if n > 0 else (0, len(x))


@njit
def first_best(x: F1, scale: float = 0.0) -> int:
    """The first of the best entries."""
    top, first = -np.inf, 0
    for i in range(len(x)):
        if x[i] > top:
            top, first = x[i], i
    if first > 0 or not x[0] >= top:
        cut = top - margin(size(x), scale)
        for i in range(len(x)):
            if x[i] >= cut:
                return i
    return first


@njit
def pick(x: F1, u: float, scale: float = 0.0) -> int:
    """One of the best entries, each with the same probability if u is uniform on [0, 1)."""
    cut, n = threshold(x, scale), best(x, scale)[1]
    left, last = int(u * n), 0
    for i in range(len(x)):
        if x[i] >= cut or n == len(x):
            last = i
            if left == 0:
                break
            left -= 1
    return last


def any_best(x: F1, rng: Generator, scale: float = 0.0) -> int:
    """One of the best entries at random. A clear choice draws no number."""
    first, n = best(x, scale)
    return first if n == 1 else pick(x, rng.random(), scale)


def largest(x: F1, n: int) -> I1:
    """The places of the n largest of non-negative numbers, in order. Where the n-th ties, the first ones are taken."""
    cut = np.sort(x)[-n]
    clear, near = x > cut + margin(cut), abs(x - cut) <= margin(cut)
    near[np.flatnonzero(near)[n - int(clear.sum()) :]] = False
    return np.flatnonzero(clear | near)


@inlined
def better(x: float, y: float, scale: float = 0.0) -> bool:
    """Whether x is larger than y and does not tie with it."""
    if not x > y:
        return False
    most = max(abs(x), abs(y))
    return x - y > margin(most, scale) or most == np.inf


@inlined
def equal(x: float, y: float, scale: float = 0.0) -> bool:
    """Whether two numbers tie."""
    if not (abs(x) < np.inf and abs(y) < np.inf):
        return x == y
    return abs(x - y) <= margin(max(abs(x), abs(y)), scale)


@njit
def greedy(q: F2, scale: float = 0.0) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """The first best action of every state, for action values q[s, a]. The scale is at least the size of the table."""
    policy, most, least = leaders(q)
    if least > margin(most, max(scale, most)):
        return policy
    most = most if most < np.inf else sizes(q)
    scale = max(scale, most)
    slack = margin(most, scale)  # at least that of any state
    for s in range(len(q)):
        cut, a = q[s, policy[s]] - slack, 0
        while q[s, a] < cut:
            a += 1
        if a != policy[s] or not q[s, a] > -np.inf:
            policy[s] = first_best(q[s], scale)
    return policy


@inlined
def leaders(q: F2) -> tuple[np.ndarray[tuple[int], np.dtype[np.int64]], float, float]:
    """The first largest entry of every row, the largest |q|, infinite or not, and the least lead over a smaller entry.

    One pass without branches.
    """
    (S, A), policy = q.shape, np.empty(len(q), np.int64)
    most, least = 0.0, np.inf
    for s in range(S):
        first, top, second, largest = 0, -np.inf, -np.inf, 0.0
        for a in range(A):
            v = q[s, a]
            lower = top if v > top else (v if v < top else second)
            second = lower if lower > second else second
            first = a if v > top else first
            top = v if v > top else top
            largest = abs(v) if abs(v) > largest else largest
        policy[s] = first
        most = largest if largest > most else most
        least = least if top - second >= least else top - second
    return policy, most, least


@njit
def within(q: F2, slack: float) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """The first action of every state that falls short of the best by at most the slack: inside of iterations."""
    policy = np.zeros(len(q), np.int64)
    for s in range(len(q)):
        while not q[s, policy[s]] >= q[s].max() - slack and policy[s] < q.shape[1] - 1:
            policy[s] += 1
    return policy


@njit
def tied(q: F2, scale: float = 0.0) -> B2:
    """Which actions of every state are best. The scale is at least the size of the table."""
    scale, mask = max(scale, sizes(q)), np.zeros(q.shape, np.bool_)
    for s in range(len(q)):
        cut = threshold(q[s], scale)
        for a in range(q.shape[1]):
            mask[s, a] = q[s, a] >= cut
    return mask
