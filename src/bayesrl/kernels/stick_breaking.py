"""Rows of a Dirichlet whose prior counts are equal and small: a few broken sticks in place of a gamma for each outcome.

With a prior count a for each of K outcomes and n_k outcomes seen, gamma variates of shapes a and n_k add up to one of
shape a + n_k, so that independently

    Dir(a + n) = (g D + sum_k g_k e_k) / (g + sum_k g_k),   D ~ Dir(a, ..., a), g ~ Gamma(K a), g_k ~ Gamma(n_k).

D itself satisfies D = (1 - x) e_k + x D', where k is any outcome with probability 1/K, x ~ Beta(K a, 1), D' has the law
of D, and all are independent: it is what one observation, which is k with probability 1/K, makes of the Dirichlet, and
the Dirichlet is the mean of its posteriors. Applied again and again (Sethuraman 1994) it says: break off a part of the
stick, throw it at an outcome, go on with the rest. With K a = 1 the rest is a uniform part of what there was.

What is left when it falls below `LEFT` of the whole row is dropped: outcomes not hit by then have probability
zero instead of less than that, and a row misses one by less than the rounding of one. That is the only approximation.
So a row is a list of about 37 K a pieces, whatever K. An outcome may be listed more than once, and what is listed for
it adds up: `listed_rows` gives the lists, `dense_rows` the same draws with all outcomes in order.
"""

from typing import TypeVar

import numpy as np
from numpy.random import Generator

from bayesrl.kernels.arrays import F1, F2, I1, I2
from bayesrl.kernels.jit import inlined, njit
from bayesrl.kernels.stream import uniform

X = TypeVar("X", F1, I1)
LEFT = 2.0**-54
"""The part of a row that is too small to matter: half of the last digit of one."""


@njit
def listed_rows(rows: I1, a: F1, size: I1, alpha: F2, rng: Generator) -> tuple[I1, I2, F2]:
    """Draws of the rows g of alpha (G, K), whose prior counts are all a[g], as lists of outcomes.

    How many are listed (n,), which ones (n, L) and with what probability (n, L).
    """
    end = np.zeros(len(rows) + 1, np.int64)
    k: I1 = np.empty(64 * len(rows), np.int32)
    p: F1 = np.empty(64 * len(rows))
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
    """The same draws as probabilities of all outcomes (n, K)."""
    n, outcome, prob = listed_rows(rows, a, size, alpha, rng)
    out = np.zeros((len(rows), alpha.shape[1]))
    for i in range(len(rows)):
        for j in range(n[i]):
            out[i, outcome[i, j]] += prob[i, j]
    return out


@inlined
def share_of_prior(p: F1, start: int, end: int, mass: float, rng: Generator) -> float:
    """Normalise the gamma variates p[start:end] of the outcomes seen: the share that is left for the prior."""
    left, total = rng.standard_gamma(mass) if end > start else 1.0, 0.0
    for j in range(start, end):
        total += p[j]
    total += left
    for j in range(start, end):
        p[j] /= total
    return left / total


@inlined
def break_stick(k: I1, p: F1, j: int, left: float, mass: float, K: int, rng: Generator) -> tuple[int, float]:
    """Break what is left of a row into pieces, listed in k and p from j on: (where the list ends, what is left).

    It stops when less than LEFT is left, or when the lists are full. `rng` is a generator or a stream.
    """
    while left >= LEFT and j < len(p):
        x = uniform(rng) if mass == 1.0 else uniform(rng) ** (1.0 / mass)
        k[j], p[j] = int(uniform(rng) * K), left * (1.0 - x)
        left *= x
        j += 1
    return j, left


@njit
def any_above(x: F1, a: float) -> bool:
    """Whether some x is larger than a: counted, as that runs in vector registers."""
    n = 0
    for y in range(len(x)):
        n += x[y] > a
    return n > 0


@njit
def doubled(x: X, more: int) -> X:
    """The same array with as much room again, and for some more."""
    y = np.empty(2 * len(x) + more, x.dtype)
    y[: len(x)] = x
    return y
