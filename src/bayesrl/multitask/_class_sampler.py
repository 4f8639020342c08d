"""Gibbs sampling of classes of tasks, each with its own normal prior of the weights (compiled).

The state of the chain: the class z_m of each task, (mu_k, Sigma_k) of each class, and the weights w_m. One sweep:

1. z_m given (mu, Sigma) of the other classes, the weights integrated out (Neal 2000, algorithm 8): a class of n other
   tasks has weight n p(r_m | mu_k, Sigma_k), and each of a few auxiliary classes drawn from the base has weight
   c / a p(r_m | mu, Sigma). A task alone in its class keeps its (mu, Sigma) as the first auxiliary class. If c is
   unknown, its posterior mean given the number of the other classes takes its place, here and below (beliefs/crp.py).
2. w_m given its class: normal.
3. The classes given the weights, (mu, Sigma) integrated out. First a Metropolis step that splits a class or merges two
   (Dahl 2005, sequentially allocated): tasks i and j are drawn. If they are of one class, they begin two classes, and
   the other members join one of the two with probability proportional to n times Student's t density of their weights,
   in random order. If not, their classes are merged, and the probability of the reverse split is computed in the same
   way. Then z_m one by one (Neal 2000, algorithm 3): n or c times the t density of w_m.
   Few data decide a class in step 1, many in step 3; with many features only a split separates two groups.
4. (mu_k, Sigma_k) given the weights of the class: normal-inverse-Wishart.

Sigma is kept as a root S, Sigma = S S', which need not be triangular. A slot is a class or free.
"""

from __future__ import annotations

from math import exp, lgamma, log
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from bayesrl.beliefs.dynamics.partitions import draw_log
from bayesrl.kernels.arrays import F1, F2, F3, F4, I1, I2
from bayesrl.kernels.jit import njit
from bayesrl.multitask._triangles import cholesky, draw_normal_wishart, log_student, solve, solve_transposed


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
    c: F1
    """Concentration, or the mean of an unknown one, by the number K of classes of the other tasks, (M + 1,)."""
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
    """The draws of a block of sweeps. The slots of a draw are its classes and, last, a new one from the base."""

    z: I2
    """(n, M)."""
    w: F3
    """(n, M, d)."""
    w_mean: F3
    """Mean of the weights of step 2, (n, M, d)."""
    mu: F3
    """(n, M + 1, d)."""
    S: F4
    """(n, M + 1, d, d)."""


@njit
def sample(rng: Generator, p: Problem, x: Chain, out: Draws) -> None:
    """One sweep for each row of `out`."""
    M, d = p.y.shape
    name, zero = np.empty(len(x.size), np.int64), np.zeros(d)
    for t in range(len(out.z)):
        by_rewards(rng, p, x)
        for m in range(M):
            draw_weights(rng, p, x, m, out.w_mean[t])
        if M > 1:
            split_or_merge(rng, p, x)
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
            for i in range(d):
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
        left, c = p.a - 1 if x.size[own] == 0.0 else p.a, p.c[in_use(x)]
        for k in range(slots):
            weight = x.size[k]
            if weight == 0.0:
                if k == own:
                    weight = c / p.a
                elif left > 0:
                    draw_normal_wishart(rng, zero, p.kappa, p.nu, p.Psi, x.mu[k], x.S[k])
                    weight = c / p.a
                    left -= 1
            log_w[k] = log(weight) + condition(p.B[m], p.y[m], x.mu[k], x.S[k], K, v) if weight > 0.0 else -np.inf
        x.z[m] = draw_log(rng, log_w)
        x.size[x.z[m]] += 1.0


@njit
def draw_weights(rng: Generator, p: Problem, x: Chain, m: int, mean: F2) -> None:
    """Step 2: w = mu + S (v + K^-T eps); its mean, mu + S v, is written into row m of `mean`."""
    d = p.y.shape[1]
    K, v, eps = np.empty((d, d)), np.empty(d), np.empty(d)
    k = x.z[m]
    condition(p.B[m], p.y[m], x.mu[k], x.S[k], K, v)
    for j in range(d):
        eps[j] = rng.standard_normal()
    solve_transposed(K, eps)
    for i in range(d):
        mean[m, i] = x.mu[k, i]
        x.w[m, i] = x.mu[k, i]
        for j in range(d):
            mean[m, i] += x.S[k, i, j] * v[j]
            x.w[m, i] += x.S[k, i, j] * (v[j] + eps[j])


@njit
def split_or_merge(rng: Generator, p: Problem, x: Chain) -> None:
    """Step 3, first part: split the class of two tasks, or merge their classes."""
    M, d = x.w.shape
    mean, scatter, L = np.empty(d), np.empty((d, d)), np.empty((d, d))
    i, j = int(rng.random() * M), int(rng.random() * (M - 1))
    j += 1 if j >= i else 0
    one, other = x.z[i], x.z[j]
    order = np.arange(M)
    for m in range(M - 1, 0, -1):  # shuffled
        k = int(rng.random() * (m + 1))
        order[m], order[k] = order[k], order[m]
    side, whole = np.full(M, -1), np.full(M, -1)  # the two classes 0 and 1, and the merged class 2, so far
    n, at = np.zeros(2), np.empty(3)
    log_split, log_whole, log_q = 0.0, 0.0, 0.0  # log densities of the weights, log probability of the allocation
    for t in range(-2, M):
        m = i if t == -2 else j if t == -1 else order[t]
        if side[m] >= 0 or (x.z[m] != one and x.z[m] != other):
            continue
        for k in range(3):
            at[k] = log_density(p, x.w, side if k < 2 else whole, k, m, mean, scatter, L)
        if t < 0:
            k = t + 2
        else:
            log_0, log_1 = log(n[0]) + at[0], log(n[1]) + at[1]
            top = max(log_0, log_1)
            total = top + log(exp(log_0 - top) + exp(log_1 - top))
            if one == other:
                k = 0 if rng.random() < exp(log_0 - total) else 1
            else:
                k = 0 if x.z[m] == one else 1
            log_q += (log_0 if k == 0 else log_1) - total
        log_split += at[k]
        log_whole += at[2]
        n[k] += 1.0
        side[m], whole[m] = k, 2
    c = p.c[in_use(x) - (one != other)]
    ratio = log(c) + lgamma(n[0]) + lgamma(n[1]) - lgamma(n[0] + n[1]) + log_split - log_whole - log_q
    luck = -rng.standard_exponential()
    if one == other and luck < ratio:
        free = 0
        while x.size[free] > 0.0:
            free += 1
        for m in range(M):
            if side[m] == 1:
                x.z[m] = free
        x.size[one], x.size[free] = n[0], n[1]
    elif one != other and luck < -ratio:
        for m in range(M):
            if side[m] >= 0:
                x.z[m] = one
        x.size[one], x.size[other] = n[0] + n[1], 0.0


@njit
def by_weights(rng: Generator, p: Problem, x: Chain) -> None:
    """Step 3, second part: the class of each task given the weights."""
    M, d = p.y.shape
    slots = len(x.size)
    log_w, mean, scatter, L = np.empty(slots), np.empty(d), np.empty((d, d)), np.empty((d, d))
    for m in range(M):
        x.size[x.z[m]] -= 1.0
        new_one, c = False, p.c[in_use(x)]
        for k in range(slots):
            weight = x.size[k]
            if weight == 0.0 and not new_one:
                weight, new_one = c, True
            if weight == 0.0:
                log_w[k] = -np.inf
                continue
            log_w[k] = log(weight) + log_density(p, x.w, x.z, k, m, mean, scatter, L)
        x.z[m] = draw_log(rng, log_w)
        x.size[x.z[m]] += 1.0


@njit
def draw_classes(rng: Generator, p: Problem, x: Chain) -> None:
    """Step 4: (mu_k, Sigma_k) of each class."""
    d = p.y.shape[1]
    mean, scatter = np.empty(d), np.empty((d, d))
    for k in range(len(x.size)):
        if x.size[k] > 0.0:
            n = learned(p, x.w, x.z, k, len(x.z), mean, scatter)
            draw_normal_wishart(rng, mean, p.kappa + n, p.nu + n, scatter, x.mu[k], x.S[k])


@njit
def in_use(x: Chain) -> int:
    """The number of classes with tasks."""
    n = 0
    for size in x.size:
        n += size > 0.0
    return n


@njit
def log_density(p: Problem, w: F2, z: I1, k: int, m: int, mean: F1, scatter: F2, L: F2) -> float:
    """Log density of the weights of task m given those of the other tasks of class k; the last three are space."""
    n = learned(p, w, z, k, m, mean, scatter)
    return log_student(w[m], mean, p.kappa + n, p.nu + n, scatter, L)


@njit
def learned(p: Problem, w: F2, z: I1, k: int, left_out: int, mean: F1, scatter: F2) -> int:
    """The base after the weights of class k without one task: writes its mean and Psi; the number of tasks."""
    M, d = w.shape
    n = 0
    mean[:] = 0.0
    for m in range(M):
        if z[m] == k and m != left_out:
            n += 1
            for i in range(d):
                mean[i] += w[m, i]
    for i in range(d):
        mean[i] /= p.kappa + n
        for j in range(i + 1):
            scatter[i, j] = p.Psi[i, j] + p.kappa * mean[i] * mean[j]
    for m in range(M):
        if z[m] == k and m != left_out:
            for i in range(d):
                for j in range(i + 1):
                    scatter[i, j] += (w[m, i] - mean[i]) * (w[m, j] - mean[j])
    return n


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
