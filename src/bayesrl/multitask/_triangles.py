"""Compiled linear algebra of few dimensions with lower triangles, and the normal-inverse-Wishart distribution."""

from __future__ import annotations

from math import lgamma, log, sqrt

import numpy as np
from numpy.random import Generator

from bayesrl.kernels.arrays import F1, F2
from bayesrl.kernels.jit import njit

LEAST = 1e-200
"""Smaller gamma variates, which occur if nu is hardly above d - 1, are replaced by this: their reciprocals overflow."""


@njit
def log_student(w: F1, mean: F1, kappa: float, nu: float, scatter: F2, L: F2) -> float:
    """Log density of Student's t, the predictive distribution of a normal-inverse-Wishart belief."""
    d = len(w)
    z, f, square, half_log_det = np.empty(d), nu - d + 1.0, 0.0, 0.0
    for i in range(d):
        z[i] = w[i] - mean[i]
        for j in range(i + 1):
            L[i, j] = scatter[i, j]
    cholesky(L)
    solve(L, z)
    for i in range(d):
        square += z[i] * z[i]
        half_log_det += log(L[i, i])
    constant = lgamma(0.5 * (f + d)) - lgamma(0.5 * f) - 0.5 * d * log(np.pi * (kappa + 1.0) / kappa)
    return constant - half_log_det - 0.5 * (f + d) * np.log1p(kappa / (kappa + 1.0) * square)


@njit
def draw_normal_wishart(rng: Generator, m: F1, kappa: float, nu: float, Psi: F2, mu: F1, S: F2) -> None:
    """Draw Sigma = S S' ~ IW(nu, Psi) and mu ~ N(m, Sigma / kappa).

    With P P' = Psi and Bartlett's A A' ~ W(nu, I), S = P A^-T: row i of S solves A s = p_i.
    """
    d = len(m)
    P, A = np.empty((d, d)), np.empty((d, d))
    for i in range(d):
        for j in range(i + 1):
            P[i, j] = Psi[i, j]
            A[i, j] = rng.standard_normal() if j < i else sqrt(2.0 * max(rng.standard_gamma(0.5 * (nu - i)), LEAST))
    cholesky(P)
    for i in range(d):
        for j in range(d):
            S[i, j] = P[i, j] if j <= i else 0.0
        solve(A, S[i])
    for i in range(d):
        mu[i] = m[i]
    for j in range(d):
        eps = rng.standard_normal() / sqrt(kappa)
        for i in range(d):
            mu[i] += S[i, j] * eps


@njit
def cholesky(A: F2) -> None:
    """Replace the lower triangle of A by its factor; the upper one is not used."""
    for j in range(len(A)):
        for k in range(j + 1):
            total = A[j, k]
            for h in range(k):
                total -= A[j, h] * A[k, h]
            A[j, k] = sqrt(total) if j == k else total / A[k, k]


@njit
def solve(L: F2, x: F1) -> None:
    """Replace x by L^-1 x."""
    for i in range(len(x)):
        for j in range(i):
            x[i] -= L[i, j] * x[j]
        x[i] /= L[i, i]


@njit
def solve_transposed(L: F2, x: F1) -> None:
    """Replace x by L^-T x."""
    for i in range(len(x) - 1, -1, -1):
        for j in range(i + 1, len(x)):
            x[i] -= L[j, i] * x[j]
        x[i] /= L[i, i]
