"""Sigma points of a row of probabilities: its mean, and steps of beta along the columns of the root of its covariance.

The columns c_i of the symmetric root of Sigma satisfy sum_i c_i c_i' = Sigma. The rows of Sigma sum to zero, so that
every column does, and every point sums to one. The 2K points p + beta c_i and p - beta c_i have mean p and, with equal
weights, covariance (beta^2 / K) Sigma: exact for beta = sqrt(K).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bayesrl.checks import Floats, array, number


def sigma_points(alpha: ArrayLike, beta: float) -> Floats:
    """The sigma points of a Dirichlet distribution with counts alpha (K,): p, p + beta c and p - beta c, (2K + 1, K).

    They are the points of the formula, also outside of the simplex. They are probabilities if beta is at most
    `largest_beta(alpha)`.

    >>> sigma_points([6.0, 3.0], 1.0).round(4).tolist()
    [[0.6667, 0.3333], [0.7721, 0.2279], [0.5613, 0.4387], [0.5613, 0.4387], [0.7721, 0.2279]]
    """
    p, root = _dirichlet("sigma_points", alpha)
    return points(p[None], root[None], np.array([number("sigma_points", "beta", beta, 0.0)]))[:, 0]


def largest_beta(alpha: ArrayLike) -> float:
    """The largest beta for which all sigma points are probabilities; infinite if only one outcome is possible.

    >>> print(round(largest_beta([6.0, 3.0]), 4))
    3.1623
    """
    p, root = _dirichlet("largest_beta", alpha)
    return float(largest_betas(p[None], root[None])[0])


def _dirichlet(owner: str, alpha: ArrayLike) -> tuple[Floats, Floats]:
    """The mean (K,) of a Dirichlet distribution, and the root (K, K) of its covariance."""
    counts = array(owner, "alpha", alpha, (None,), low=0.0, above=True, moderate=True)
    total = counts.sum()
    p = counts / total
    return p, roots(((np.diag(p) - np.outer(p, p)) / (total + 1.0))[None])[0]


def roots(covariance: Floats) -> Floats:
    """Symmetric roots of covariances (G, K, K). Outcomes that are certain or impossible have empty rows.

    The root of an eigenvalue that is zero up to 1e-18 is 1e-9. The means of the columns are therefore removed.
    """
    values, vectors = np.linalg.eigh(covariance)
    root = (vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]) @ vectors.swapaxes(1, 2)
    moves = (np.diagonal(covariance, axis1=1, axis2=2) > 0.0).astype(float)
    both = moves[:, :, None] * moves[:, None, :]
    centre = np.eye(covariance.shape[1]) - both / np.maximum(moves.sum(axis=1), 1.0)[:, None, None]
    return np.asarray(centre @ (both * root) @ centre)


def largest_betas(p: Floats, root: Floats) -> Floats:
    """The largest beta of each row p (G, K) for which no point has a negative entry, (G,)."""
    steepest = np.abs(root).max(axis=1)  # (G, K)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(steepest > 0.0, p / steepest, np.inf).min(axis=1))


def points(p: Floats, root: Floats, beta: Floats) -> Floats:
    """Sigma points of rows p (G, K) with steps beta (G,), shape (2K + 1, G, K)."""
    steps = beta[:, None] * root.swapaxes(0, 1)
    return np.concatenate([p[None], p + steps, p - steps])
