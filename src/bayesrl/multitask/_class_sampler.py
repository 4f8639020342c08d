"""Gibbs sampling of classes of tasks, each with its own normal prior of the weights (compiled).

The state of the chain: the class z_m of each task, (mu_k, Sigma_k) of each class, and the weights w_m. One sweep:

1. z_m given (mu, Sigma) of the other classes, the weights integrated out (Neal 2000, algorithm 8): a class of n other
   tasks has weight n p(r_m | mu_k, Sigma_k), and each of a few auxiliary classes drawn from the base has weight
   c / a p(r_m | mu, Sigma). A task alone in its class keeps its (mu, Sigma) as the first auxiliary class.
2. w_m given its class: normal.
3. z_m given the weights, (mu, Sigma) integrated out (Neal 2000, algorithm 3): n or c times Student's t density of w_m.
   Few data decide a class in step 1, many in step 3; the chain moves in both cases.
4. (mu_k, Sigma_k) given the weights of the class: normal-inverse-Wishart.

Sigma is kept as a root S, Sigma = S S', which need not be triangular. A slot is a class or free.
"""

from __future__ import annotations

from math import lgamma, log, sqrt
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from bayesrl.beliefs.structured._partitions import draw_log
from bayesrl.kernels.arrays import F1, F2, F3, F4, I1, I2
from bayesrl.kernels.jit import njit

LEAST = 1e-200
"""Smaller gamma variates, which occur if nu is hardly above d - 1, are replaced by this: their reciprocals overflow."""


class Problem(NamedTuple):
    """Tasks in units of the noise, the base, and the restaurant process."""

    B: F3
    """(M, d, d)."""
    y: F2
    """(M, d)."""
    Psi: F2
    """(d, d)."""
    kappa: float
    nu: float
    c: float
    """Concentration."""
    a: int
    """Auxiliary classes."""


class Chain(NamedTuple):
    """The state of the chain, which changes in place."""

    z: I1
    """(M,)."""
    size: F1
    """Tasks of each slot, (M + a,)."""
    mu: F2
    """(M + a, d)."""
    S: F3
    """(M + a, d, d)."""
    w: F2
    """(M, d)."""


class Draws(NamedTuple):
    """What a block of sweeps leaves. The slots of a draw are its classes and, last, a new one from the base."""

    z: I2
    """(n, M)."""
    w: F3
    """(n, M, d)."""
    w_mean: F3
    """Mean of the weights given the classes, (n, M, d)."""
    mu: F3
    """(n, M + 1, d)."""
    S: F4
    """(n, M + 1, d, d)."""


@njit
def sample(rng: Generator, p: Problem, x: Chain, out: Draws) -> None:
    """One sweep for each row of `out`."""
    M, d = p.y.shape
    name, zero, K, v = np.empty(len(x.size), np.int64), np.zeros(d), np.empty((d, d)), np.empty(d)
    for t in range(len(out.z)):
        by_rewards(rng, p, x)
        for m in range(M):
            draw_weights(rng, p, x, m)
        by_weights(rng, p, x)
        draw_classes(rng, p, x)
        name[:] = -1
        n = 0
        for m in range(M):  # classes in the order of their first task
            k = x.z[m]
            if name[k] < 0:
                name[k] = n
                for i in range(d):
                    out.mu[t, n, i] = x.mu[k, i]
                    for j in range(d):
                        out.S[t, n, i, j] = x.S[k, i, j]
                n += 1
            out.z[t, m] = name[k]
            condition(p.B[m], p.y[m], x.mu[k], x.S[k], K, v)
            times(x.S[k], v, out.w_mean[t, m])
            for i in range(d):
                out.w_mean[t, m, i] += x.mu[k, i]
                out.w[t, m, i] = x.w[m, i]
        draw_normal_wishart(rng, zero, p.kappa, p.nu, p.Psi, out.mu[t, n], out.S[t, n])


@njit
def by_rewards(rng: Generator, p: Problem, x: Chain) -> None:
    """Step 1: the class of each task, the weights integrated out."""
    M, d = p.y.shape
    slots, zero = len(x.size), np.zeros(d)
    log_w, K, v = np.empty(slots), np.empty((d, d)), np.empty(d)
    for m in range(M):
        own = x.z[m]
        x.size[own] -= 1.0
        left = p.a - 1 if x.size[own] == 0.0 else p.a
        for k in range(slots):
            weight = x.size[k]
            if weight == 0.0:
                if k == own:
                    weight = p.c / p.a
                elif left > 0:
                    draw_normal_wishart(rng, zero, p.kappa, p.nu, p.Psi, x.mu[k], x.S[k])
                    weight = p.c / p.a
                    left -= 1
            log_w[k] = log(weight) + condition(p.B[m], p.y[m], x.mu[k], x.S[k], K, v) if weight > 0.0 else -np.inf
        x.z[m] = draw_log(rng, log_w)
        x.size[x.z[m]] += 1.0


@njit
def draw_weights(rng: Generator, p: Problem, x: Chain, m: int) -> None:
    """Step 2: w = mu + S (v + K^-T eps)."""
    d = p.y.shape[1]
    K, v, eps = np.empty((d, d)), np.empty(d), np.empty(d)
    k = x.z[m]
    condition(p.B[m], p.y[m], x.mu[k], x.S[k], K, v)
    for j in range(d):
        eps[j] = rng.standard_normal()
    solve_transposed(K, eps)
    for j in range(d):
        v[j] += eps[j]
    times(x.S[k], v, x.w[m])
    for j in range(d):
        x.w[m, j] += x.mu[k, j]


@njit
def by_weights(rng: Generator, p: Problem, x: Chain) -> None:
    """Step 3: the class of each task given the weights, (mu, Sigma) integrated out."""
    M, d = p.y.shape
    slots = len(x.size)
    log_w, mean, scatter, L = np.empty(slots), np.empty(d), np.empty((d, d)), np.empty((d, d))
    for m in range(M):
        x.size[x.z[m]] -= 1.0
        new_one = False
        for k in range(slots):
            weight = x.size[k]
            if weight == 0.0 and not new_one:
                weight, new_one = p.c, True
            if weight == 0.0:
                log_w[k] = -np.inf
                continue
            n = learned(p, x, k, m, mean, scatter)
            log_w[k] = log(weight) + log_student(x.w[m], mean, p.kappa + n, p.nu + n, scatter, L)
        x.z[m] = draw_log(rng, log_w)
        x.size[x.z[m]] += 1.0


@njit
def draw_classes(rng: Generator, p: Problem, x: Chain) -> None:
    """Step 4: (mu_k, Sigma_k) of each class."""
    d = p.y.shape[1]
    mean, scatter = np.empty(d), np.empty((d, d))
    for k in range(len(x.size)):
        if x.size[k] > 0.0:
            n = learned(p, x, k, len(x.z), mean, scatter)
            draw_normal_wishart(rng, mean, p.kappa + n, p.nu + n, scatter, x.mu[k], x.S[k])


@njit
def learned(p: Problem, x: Chain, k: int, left_out: int, mean: F1, scatter: F2) -> int:
    """The base after the weights of class k without one task: writes its mean and Psi; the number of tasks."""
    M, d = p.y.shape
    n = 0
    mean[:] = 0.0
    for m in range(M):
        if x.z[m] == k and m != left_out:
            n += 1
            for i in range(d):
                mean[i] += x.w[m, i]
    for i in range(d):
        mean[i] /= p.kappa + n
        for j in range(i + 1):
            scatter[i, j] = p.Psi[i, j] + p.kappa * mean[i] * mean[j]
    for m in range(M):
        if x.z[m] == k and m != left_out:
            for i in range(d):
                for j in range(i + 1):
                    scatter[i, j] += (x.w[m, i] - mean[i]) * (x.w[m, j] - mean[j])
    return n


# Linear algebra with lower triangles ---------------------------------------------------------------------------------


@njit
def condition(B: F2, y: F1, mu: F1, S: F2, K: F2, v: F1) -> float:
    """Log density of a task's rewards up to its constant. With X = B S, it writes K K' = I + X'X and v.

    v = (K K')^-1 X'(y - B mu), so that the mean of the weights is mu + S v.
    """
    d = len(y)
    X, e = np.empty((d, d)), np.empty(d)
    for i in range(d):
        e[i] = y[i]
        for j in range(d):
            e[i] -= B[i, j] * mu[j]
            total = 0.0
            for k in range(d):
                total += B[i, k] * S[k, j]
            X[i, j] = total
    for i in range(d):
        v[i] = 0.0
        for k in range(d):
            v[i] += X[k, i] * e[k]
        for j in range(i + 1):
            total = 1.0 if i == j else 0.0
            for k in range(d):
                total += X[k, i] * X[k, j]
            K[i, j] = total
    cholesky(K)
    solve(K, v)
    solve_transposed(K, v)
    value = 0.0
    for i in range(d):
        off = e[i]
        for j in range(d):
            off -= X[i, j] * v[j]
        value -= 0.5 * (off * off + v[i] * v[i]) + log(K[i, i])
    return value


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


@njit
def times(A: F2, x: F1, out: F1) -> None:
    """Write A x."""
    for i in range(len(x)):
        out[i] = 0.0
        for j in range(len(x)):
            out[i] += A[i, j] * x[j]
