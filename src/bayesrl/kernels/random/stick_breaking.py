"""Stick breaking: draw a row of a Dirichlet whose prior counts are equal and small.

The usual method draws a gamma variate for each of the K outcomes. Stick breaking draws only a few pieces. Let a be the
prior count of each outcome, and n_k the number of times that outcome k was seen. Gamma variates of shapes a and n_k add
up to one of shape a + n_k, so that with independent variables

    Dir(a + n) = (g D + sum_k g_k e_k) / (g + sum_k g_k),   D ~ Dir(a, ..., a), g ~ Gamma(K a), g_k ~ Gamma(n_k).

D satisfies D = (1 - x) e_k + x D', where k is uniform, x ~ Beta(K a, 1), D' has the law of D, and all are independent.
(One observation is k with probability 1/K, and the prior is the mean of the posteriors after one observation.) Applied
repeatedly, this is stick breaking (Sethuraman 1994): break off a part of the stick, give it to a random outcome, and
continue with the rest. If K a = 1, the rest is a uniform part of the stick.

The loop stops when the rest is below `LEFT` of the whole row, and drops the rest. This is the only approximation: other
outcomes get probability zero, and the sum of a row differs from one by less than the rounding error of one. A row is
a list of about 37 K a pieces, whatever K is. An outcome may be listed several times; its probabilities add up.
`listed_rows` returns the lists, and `dense_rows` returns the same draws as dense rows.
"""

from typing import TypeVar

import numpy as np
from numpy.random import Generator

from bayesrl.kernels.arrays import F1, F2, I1, I2
from bayesrl.kernels.jit import inlined, njit
from bayesrl.kernels.random.stream import uniform

X = TypeVar("X", F1, I1)
PIECES = 64
"""Room for pieces of each row at first."""
LEFT = 2.0**-54
"""Stick breaking stops below this part of a row: half of the last digit of one."""


@njit
def listed_rows(rows: I1, a: F1, size: I1, alpha: F2, rng: Generator) -> tuple[I1, I2, F2]:
    """Draw rows g of alpha (G, K), whose prior counts all equal a[g], as lists of outcomes.

    Returns the lengths of the lists (n,), the outcomes (n, L) and their probabilities (n, L).
    """
    end = np.zeros(len(rows) + 1, np.int64)
    k: I1 = np.empty(PIECES * len(rows), np.int32)
    p: F1 = np.empty(PIECES * len(rows))
    for i in range(len(rows)):
        g = rows[i]
        K, j, mass = size[g], end[i], size[g] * a[g]
        if j + K > len(p):
            k, p = doubled(k, K), doubled(p, K)
        if any_above(alpha[g, :K], a[g]):
            for y in range(K):
                if alpha[g, y] > a[g]:
                    k[j], p[j] = y, rng.standard_gamma(np.rint(alpha[g, y] - a[g]))
                    j += 1
        left = share_of_prior(p, end[i], j, mass, rng)
        j, left = break_stick(k, p, j, left, mass, K, rng)
        while left >= LEFT:
            k, p = doubled(k, 1), doubled(p, 1)
            j, left = break_stick(k, p, j, left, mass, K, rng)
        end[i + 1] = j
    n = np.diff(end).astype(np.int32)
    outcome, prob = np.zeros((len(rows), n.max()), np.int32), np.zeros((len(rows), n.max()))
    for i in range(len(rows)):
        for j in range(n[i]):
            outcome[i, j], prob[i, j] = k[end[i] + j], p[end[i] + j]
    return n, outcome, prob


@njit
def dense_rows(rows: I1, a: F1, size: I1, alpha: F2, rng: Generator) -> F2:
    """Draw the same rows as `listed_rows`; returns the probabilities of all outcomes (n, K)."""
    n, outcome, prob = listed_rows(rows, a, size, alpha, rng)
    out = np.zeros((len(rows), alpha.shape[1]))
    for i in range(len(rows)):
        for j in range(n[i]):
            out[i, outcome[i, j]] += prob[i, j]
    return out


@inlined
def share_of_prior(p: F1, start: int, end: int, mass: float, rng: Generator) -> float:
    """Normalise the gamma variates p[start:end] of the outcomes seen; returns the remaining share, of the prior."""
    left, total = rng.standard_gamma(mass) if end > start else 1.0, 0.0
    for j in range(start, end):
        total += p[j]
    total += left
    for j in range(start, end):
        p[j] /= total
    return left / total


@inlined
def break_stick(k: I1, p: F1, j: int, left: float, mass: float, K: int, rng: Generator) -> tuple[int, float]:
    """Break the rest of a row into pieces, and write them to k and p from index j on; returns (end of list, rest).

    The loop stops when the rest is below LEFT or the lists are full. `rng` is a generator or a stream.
    """
    while left >= LEFT and j < len(p):
        x = uniform(rng) if mass == 1.0 else uniform(rng) ** (1.0 / mass)
        k[j], p[j] = int(uniform(rng) * K), left * (1.0 - x)
        left *= x
        j += 1
    return j, left


@njit
def any_above(x: F1, a: float) -> bool:
    """Whether some x is larger than a. Counting them is faster, since the loop is vectorised."""
    n = 0
    for y in range(len(x)):
        n += x[y] > a
    return n > 0


@njit
def doubled(x: X, more: int) -> X:
    """Copy an array into one of twice its length plus `more`."""
    y = np.empty(2 * len(x) + more, x.dtype)
    y[: len(x)] = x
    return y
