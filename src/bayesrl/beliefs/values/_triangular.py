"""Triangular systems: small ones by our own kernel, large ones by LAPACK."""

from __future__ import annotations

import numpy as np

from bayesrl.checks import Floats
from bayesrl.kernels.cholesky import solve_lower, solve_transposed

LARGE = 2_000_000
"""Multiplications from which on LAPACK is faster, its threads included."""


def lower_solved(L: Floats, B: Floats) -> Floats:
    """L^-1 B for a lower triangular matrix, B of shape (n, m)."""
    if len(B) * B.size < LARGE:
        return solve_lower(L, B)
    from scipy.linalg import solve_triangular

    return np.asarray(solve_triangular(L, B, lower=True, check_finite=False))


def transposed_solved(L: Floats, B: Floats) -> Floats:
    """L^-T B for a lower triangular matrix L, B of shape (n, m)."""
    return solve_transposed(L, B)


def positive_solved(L: Floats, B: Floats) -> Floats:
    """(L L')^-1 B for a lower triangular matrix, B of shape (n, m)."""
    return transposed_solved(L, lower_solved(L, B))
