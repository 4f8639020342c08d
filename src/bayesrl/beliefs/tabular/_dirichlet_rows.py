"""Draws of rows from Dirichlet distributions."""

from __future__ import annotations

import math

import numpy as np
from numpy.random import Generator

from bayesrl.checks import Bools, Floats, Ints, frozen
from bayesrl.kernels.arrays import F2, F3, I1
from bayesrl.kernels.jit import njit
from bayesrl.kernels.stream import stream, uniform

SMALL_ALPHA = 0.1
"""Below this, gamma variates may underflow, so Dirichlet rows are drawn by their logarithms."""
MANY = 64
"""Rows with at least this number of outcomes are drawn by stick breaking (`kernels/stick_breaking.py`), if prior counts
are equal and at most 1 / MANY: a row then has fewer pieces than outcomes."""


def dirichlet_rows(alpha: Floats, rng: Generator) -> Floats:
    """Draw from the Dirichlet of each row. Zero counts are padding and stay zero.

    Gamma variates of tiny counts may be below the smallest float. Gamma(a) has the law of Gamma(a + 1) U^(1/a), so the
    logarithms of such rows are drawn, and scaled by their largest entry.
    """
    positive = alpha > 0.0
    if alpha[positive].min() >= SMALL_ALPHA:
        x = rng.standard_gamma(alpha)
    else:
        a = np.where(positive, alpha, 1.0)
        with np.errstate(divide="ignore"):
            logs = np.log(rng.standard_gamma(a + 1.0)) + np.log(rng.random(a.shape)) / a
        logs[~positive] = -np.inf
        x = np.exp(logs - logs.max(axis=-1, keepdims=True))
    return np.asarray(x / x.sum(axis=-1, keepdims=True))


def even_counts(prior: Floats, valid: Bools, known: Bools) -> Floats | None:
    """The common prior count of each group's outcomes, (G,); None unless stick breaking applies to all groups.

    Outcomes must be many, counts equal within each group and small, and no group known.
    """
    if prior.shape[1] < MANY or known.any() or prior[0, 0] > 1.0 / MANY:
        return None
    if prior.strides == (0, 0):
        return frozen(np.full(len(prior), prior[0, 0]))
    learnt, even = valid & ~known[:, None], prior.max(axis=1)
    if even.max() > 1.0 / MANY:
        return None
    return frozen(even) if (prior == even[:, None])[learnt].all() else None


def many_dirichlet_rows(alpha: Floats, size: Ints, samples: int, rng: Generator) -> Floats:
    """Draw from the Dirichlet of each row of alpha (G, K), `samples` times; returns (samples, G, K).

    Row g has size[g] outcomes; it is zero if size[g] is. Counts must be at least SMALL_ALPHA. A gamma variate of shape
    a >= 1 is d v with v = (1 + c x)^3, x normal, d = a - 1/3 and c = (9 d)^(-1/2), accepted with probability
    exp(x^2 / 2 + d - d v + d log v) (Marsaglia, Tsang 2000). A count below 1 is drawn as in `dirichlet_rows`.
    """
    d = np.where(alpha < 1.0, alpha + 1.0, alpha) - 1.0 / 3.0
    rows = np.zeros((samples, alpha.shape[0], alpha.shape[1]))
    fill_rows(rows, alpha, d, 1.0 / np.sqrt(9.0 * d), size, rng)
    return rows


@njit
def fill_rows(rows: F3, alpha: F2, d: F2, c: F2, size: I1, rng: Generator) -> None:
    """Draw the rows of `many_dirichlet_rows`."""
    luck = stream(rng)
    for i in range(len(rows)):
        for g in range(len(size)):
            total = 0.0
            for k in range(size[g]):
                while True:
                    x = rng.standard_normal()
                    v = 1.0 + c[g, k] * x
                    if v > 0.0:
                        v, square, u = v * v * v, x * x, 1.0 - uniform(luck)
                        if u < 1.0 - 0.0331 * square * square:  # a bound, which avoids the logarithms
                            break
                        if math.log(u) < 0.5 * square + d[g, k] * (1.0 - v + math.log(v)):
                            break
                y = d[g, k] * v
                if alpha[g, k] < 1.0:
                    y *= (1.0 - uniform(luck)) ** (1.0 / alpha[g, k])
                rows[i, g, k] = y
                total += y
            for k in range(size[g]):
                rows[i, g, k] /= total
