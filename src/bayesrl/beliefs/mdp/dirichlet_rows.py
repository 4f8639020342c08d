"""Draws of rows from Dirichlet distributions."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from bayesrl.checks import Bools, Floats, frozen

SMALL_ALPHA = 0.1
"""Below this, gamma variates may underflow, so Dirichlet rows are drawn by their logarithms."""
MANY = 64
"""Rows with at least this number of outcomes are drawn by stick breaking (`kernels/random/stick_breaking.py`), if prior
counts are equal and at most 1 / MANY: a row then has fewer pieces than outcomes."""


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


def even_counts(prior_counts: Floats, valid: Bools, known: Bools) -> Floats | None:
    """The common prior count of each group's outcomes, (G,); None unless stick breaking applies to all groups.

    Outcomes must be many, counts equal within each group and small, and no group known.
    """
    if prior_counts.shape[1] < MANY or known.any() or prior_counts[0, 0] > 1.0 / MANY:
        return None
    if prior_counts.strides == (0, 0):
        return frozen(np.full(len(prior_counts), prior_counts[0, 0]))
    learnt, even = valid & ~known[:, None], prior_counts.max(axis=1)
    if even.max() > 1.0 / MANY:
        return None
    return frozen(even) if (prior_counts == even[:, None])[learnt].all() else None
