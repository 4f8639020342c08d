"""Triangular systems, and a lower Cholesky factor in packed rows.

Row i of a packed factor holds i + 1 numbers and starts at i (i + 1) / 2. A row can be appended behind the others
without moving them, so that versions of a belief share one buffer. Small systems are solved here and not by LAPACK,
whose threads cost more than the work.
"""

from __future__ import annotations

import numpy as np

from bayesrl.checks import Floats
from bayesrl.kernels.arrays import F1, F2
from bayesrl.kernels.jit import any_order, njit

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


@any_order
def forward(L: F1, a: F1) -> F1:
    """L^-1 a by forward substitution; L has as many rows as a has entries."""
    x = np.empty(len(a))
    for i in range(len(a)):
        start = i * (i + 1) // 2
        row = L[start : start + i]
        total = 0.0
        for j in range(i):
            total += row[j] * x[j]
        x[i] = (a[i] - total) / L[start + i]
    return x


@njit
def unpacked(L: F1, n: int) -> F2:
    """The first n rows as a matrix with zeros above the diagonal."""
    full = np.zeros((n, n))
    for i in range(n):
        start = i * (i + 1) // 2
        full[i, : i + 1] = L[start : start + i + 1]
    return full


@njit
def pack(L: F1, first: int, rows: F2) -> None:
    """Write rows of a factor behind the first ones: row i of `rows` is row first + i of the factor."""
    for i in range(len(rows)):
        start = (first + i) * (first + i + 1) // 2
        L[start : start + first + i + 1] = rows[i, : first + i + 1]


@any_order
def solve_lower(L: F2, B: F2) -> F2:
    """L^-1 B for a lower triangular matrix."""
    n, m = B.shape
    X = np.empty((m, n))
    for i in range(n):
        row = L[i]
        for c in range(m):
            x, total = X[c], 0.0
            for j in range(i):
                total += row[j] * x[j]
            x[i] = (B[i, c] - total) / row[i]
    return X.T


@any_order
def solve_transposed(L: F2, B: F2) -> F2:
    """L^-T B for a lower triangular matrix L."""
    X = B.copy()
    n, m = X.shape
    for i in range(n - 1, -1, -1):
        for c in range(m):
            X[i, c] /= L[i, i]
        for j in range(i):
            factor = L[i, j]
            if factor != 0.0:
                for c in range(m):
                    X[j, c] -= factor * X[i, c]
    return X
