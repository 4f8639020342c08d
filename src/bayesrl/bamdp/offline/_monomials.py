"""Monomials of Dirichlet probabilities: their moments, and a basis to project on (BEETLE).

Shapes: G groups, K outcomes, B beliefs, n monomials.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp

from bayesrl.capabilities import HasDirichletRows
from bayesrl.checks import Floats, Ints
from bayesrl.kernels.arrays import F1, F2, F3, I2
from bayesrl.kernels.jit import njit

RCOND = 1e-10
"""Directions of the basis with a smaller share of the largest eigenvalue are treated as rounding errors."""

History = tuple[tuple[int, int, int], ...]
"""Outcomes seen since the prior as sorted triples (g, k, n): outcome k of group g was seen n times.

The same triples describe a monomial; then n are its exponents.
"""


def listed(histories: Sequence[History]) -> Ints:
    """Sorted rows (g, k, i, n), (z, 4): history i has seen outcome k of group g n times."""
    rows = [(g, k, i, n) for i, history in enumerate(histories) for g, k, n in history]
    return np.array(sorted(rows), np.int64).reshape(-1, 4)


def counts_after(alpha: Floats, history: History) -> Floats:
    """Dirichlet counts after a history."""
    new = alpha.copy()
    for g, k, n in history:
        new[g, k] += n
    return new


def dense_order(history: History) -> list[tuple[int, int, int]]:
    """A key that sorts histories as if their counts were written out in arrays (G, K)."""
    return [(-g, -k, n) for g, k, n in history]


class Basis(NamedTuple):
    """Monomials phi_i of norm one, and projections of the products theta_{g k} phi_j on them.

    Outcomes of a row that no belief has seen differ only in alpha_gk, so one matrix is stored for all of them.
    """

    exponent: I2  # (z, 4) rows (g, k, i, n); the first monomial is constant and has no rows
    scale: F1  # (n,) log norms
    identity: F2  # (n, n) projections of the phi_j
    cell: I2  # (c, 2) sorted (g, k) that some belief has seen; k = -1 is for the unseen outcomes of g
    product: F3  # (c, n, n) projections of theta_{g k} phi_j; for k = -1, of theta_{g k} phi_j / alpha_gk


def make_basis(prior: HasDirichletRows, monomials: Sequence[History], histories: Sequence[History]) -> Basis:
    """The basis of these monomials; distances are under the even mixture of the beliefs after these histories.

    E_b[phi_i phi_j] = E_b[phi_i] E[phi_j | b and the outcomes of i], because a Dirichlet density times a monomial is
    the posterior density after these outcomes.
    """
    exponent, n = listed(monomials), len(monomials)
    beliefs = [counts_after(prior.alpha, history) for history in histories]
    both = np.array([log_moments_after(monomials, alpha, exponent, n) for alpha in beliefs])
    both += log_moments_after(histories, prior.alpha, exponent, n)[:, :, None]
    scale = 0.5 * (logsumexp(both.diagonal(axis1=1, axis2=2), axis=0) - np.log(len(histories)))
    joint = np.exp(both - scale[:, None] - scale)  # (B, n, n) E_b[phi_i phi_j]
    gram = joint.mean(axis=0)
    inverse = np.linalg.pinv(gram, rcond=RCOND, hermitian=True)
    cell, product = products(joint, listed(histories), exponent, prior.alpha)
    return Basis(exponent, scale, inverse @ gram, cell, inverse @ product)


def log_moments_after(histories: Sequence[History], alpha: Floats, exponent: Ints, n: int) -> Floats:
    """Logarithms of the n moments under the belief after each history."""
    return np.array([log_moments(exponent, counts_after(alpha, history), n) for history in histories])


def products(joint: Floats, seen: Ints, exponent: Ints, alpha: Floats) -> tuple[Ints, Floats]:
    """The cells of a basis and E[phi_i theta_{g k} phi_j] for each of them, before the projection.

    E_b[phi_i theta_{g k} phi_j] = E_b[phi_i phi_j] (alpha_gk + seen_bgk + n_igk + n_jgk) / (alpha_g + seen_bg + n_ig +
    n_jg), averaged over the beliefs b.
    """
    (B, n, _), K = joint.shape, alpha.shape[1]
    cell: list[tuple[int, int]] = []
    product = []
    for g in np.union1d(seen[:, 0], exponent[:, 0]).tolist():
        b, m = counts_in_group(seen, g, (B, K)), counts_in_group(exponent, g, (n, K))
        weight = joint / (alpha[g].sum() + b.sum(axis=1)[:, None, None] + m.sum(axis=1)[:, None] + m.sum(axis=1)) / B
        shared = weight.sum(axis=0)
        cell.append((g, -1))
        product.append(shared)
        for k in np.flatnonzero(b.any(axis=0) | m.any(axis=0)).tolist():
            who = np.flatnonzero(b[:, k])
            cell.append((g, k))
            product.append(shared * (alpha[g, k] + m[:, None, k] + m[:, k]) + np.tensordot(b[who, k], weight[who], 1))
    return np.array(cell, np.int64).reshape(-1, 2), np.array(product).reshape(-1, n, n)


def counts_in_group(rows: Ints, g: int, shape: tuple[int, int]) -> Floats:
    """The counts in group g as a dense array, by history and outcome."""
    dense = np.zeros(shape)
    mine = rows[rows[:, 0] == g]
    dense[mine[:, 2], mine[:, 1]] = mine[:, 3]
    return dense


@njit
def log_moments(exponent: I2, alpha: F2, n: int) -> F1:
    """log E[prod theta^n] for each of n monomials under Dirichlet rows alpha (G, K).

    The moment is the probability of drawing these outcomes from a Pólya urn. After n_gk equal outcomes and n_g draws,
    the next outcome has probability (alpha_gk + n_gk) / (alpha_g + n_g). Padding and known rows have no exponents.
    """
    moment, before, row, mass = np.zeros(n), np.zeros(n, np.int64), -1, 0.0
    for g, k, i, m in exponent:
        if g != row:
            row, mass = g, alpha[g].sum()
            before[:] = 0
        for t in range(m):
            moment[i] += np.log((alpha[g, k] + t) / (mass + before[i]))
            before[i] += 1
    return moment
