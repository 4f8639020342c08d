"""Collapsed Gibbs sampling of the classes of tasks, from the counts of the tasks.

Task m joins class j with weight n_j DM(N_j + n_m) / DM(N_j), and a new one with weight c DM(n_m), where n_j and N_j are
the number of the other tasks in the class and their counts. DM is the Dirichlet-multinomial probability of steps in
their order: a product over groups. If c is unknown, its posterior mean takes its place, which depends on the number K
of classes of the other tasks (beliefs/crp.py): c is an array. A task that is in no class yet has label -1.

One task at a time rarely leaves a class of two kinds, since alone it predicts worse than both kinds together. So every
sweep also proposes to split or to merge classes (Dahl 2005). Of two random tasks in one class, each begins a class, and
the other members choose between the two, one after the other in a random order. Two classes are proposed as one. The
proposal is accepted by the Metropolis-Hastings ratio, where q is the probability of the choices made, or of those that
would split the merged class as it was.
"""

from __future__ import annotations

from math import lgamma
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from bayesrl.beliefs.dynamics.partitions import draw_log, in_order
from bayesrl.kernels.arrays import F1, F2, I1, I2
from bayesrl.kernels.jit import njit


class Steps(NamedTuple):
    """The counts of all tasks: those of task m are entries start[m] to start[m + 1]."""

    start: I1
    cell: I1
    n: F1
    group: I1
    """The group of each cell, (U,)."""
    alpha: F1
    """The prior count of each cell, (U,)."""
    total: F1
    """The total prior count of each group, (H,)."""


@njit
def gibbs(rng: Generator, z: I1, steps: Steps, c: F1, drawn: I2) -> None:
    """Draw the class of one task after the other, given the others; each sweep writes a row of drawn (sweeps, M).

    c (M + 1,) is the weight of a new class by the number of the other classes.
    """
    M = len(z)
    for i in range(len(drawn)):
        J = z.max() + 1
        size, N, T, log_w = (
            np.zeros(J + 4),
            np.zeros((J + 4, len(steps.alpha))),
            np.zeros((J + 4, len(steps.total))),
            np.zeros(J + 4),
        )
        for m in range(M):
            if z[m] >= 0:
                move(m, z[m], 1.0, steps, size, N, T)
        for m in range(M):
            if z[m] >= 0:
                move(m, z[m], -1.0, steps, size, N, T)
            new, K = J, 0  # the first class without tasks, and the number of those with tasks
            for j in range(J - 1, -1, -1):
                if size[j] > 0.0:
                    K += 1
                else:
                    new = j
            if new == J:
                J += 1
                if J > len(size):  # room for twice as many classes
                    size, log_w = np.append(size, np.zeros_like(size)), np.append(log_w, np.zeros_like(log_w))
                    N, T = np.concatenate((N, np.zeros_like(N))), np.concatenate((T, np.zeros_like(T)))
            for j in range(J):
                prior = c[K] if j == new else size[j]
                log_w[j] = np.log(prior) + log_gain(m, steps, N[j], T[j]) if prior > 0.0 else -np.inf
            z[m] = draw_log(rng, log_w[:J])
            move(m, z[m], 1.0, steps, size, N, T)
        if M > 1:
            split_or_merge(rng, z, steps, c, (size > 0.0).sum())
        in_order(z)
        drawn[i] = z


@njit
def split_or_merge(rng: Generator, z: I1, steps: Steps, c: F1, K: int) -> None:
    """Propose to split the class of two random tasks, or to merge their classes; z (M,) has K and changes in place."""
    first = int(rng.random() * len(z))
    second = int(rng.random() * (len(z) - 1))
    second += second >= first
    a, b = z[first], z[second]
    order, n = np.empty(len(z), np.int64), 0  # the members of both classes, in a random order
    for m in range(len(z)):
        if z[m] == a or z[m] == b:
            j = int(rng.random() * (n + 1))
            order[n], order[j] = order[j], m
            n += 1
    side, size = np.zeros(len(z), np.int64), np.zeros(3)  # rows: the class of the first, of the second, and both
    N, T = np.zeros((3, len(steps.alpha))), np.zeros((3, len(steps.total)))
    log_q, log_ratio = 0.0, np.log(c[K if a == b else K - 1])  # the ratio of the two classes to the one
    for i in range(-2, n):
        m = order[i] if i >= 0 else (first if i == -2 else second)
        if i >= 0 and m in (first, second):
            continue
        j = i + 2
        if i >= 0:
            odds = np.log(size[1] / size[0]) + log_gain(m, steps, N[1], T[1]) - log_gain(m, steps, N[0], T[0])
            j = int(z[m] != a) if a != b else int(rng.random() >= 1.0 / (1.0 + np.exp(odds)))
            against = -odds if j == 1 else odds
            log_q -= max(against, 0.0) + np.log1p(np.exp(-abs(against)))
        side[m] = j
        log_ratio += log_gain(m, steps, N[j], T[j]) - log_gain(m, steps, N[2], T[2])
        move(m, j, 1.0, steps, size, N, T)
        move(m, 2, 1.0, steps, size, N, T)
    log_ratio += lgamma(size[0]) + lgamma(size[1]) - lgamma(size[2])
    if np.log(rng.random()) < (log_ratio - log_q if a == b else log_q - log_ratio):
        new = z.max() + 1 if a == b else a
        for m in order[:n]:
            if side[m] == 1:
                z[m] = new


@njit
def move(m: int, j: int, sign: float, steps: Steps, size: F1, N: F2, T: F2) -> None:
    """Add task m to class j, or take it away."""
    size[j] += sign
    for i in range(steps.start[m], steps.start[m + 1]):
        u = steps.cell[i]
        N[j, u] += sign * steps.n[i]
        T[j, steps.group[u]] += sign * steps.n[i]


@njit
def log_gain(m: int, steps: Steps, N: F1, T: F1) -> float:
    """log DM(N + n_m) - log DM(N), over the cells that task m has seen; N (U,) and T (H,) are a class's counts."""
    gain, more = 0.0, 0.0
    end = steps.start[m + 1]
    for i in range(steps.start[m], end):
        u, n = steps.cell[i], steps.n[i]
        gain += lgamma(steps.alpha[u] + N[u] + n) - lgamma(steps.alpha[u] + N[u])
        more += n
        g = steps.group[u]
        if i + 1 == end or steps.group[steps.cell[i + 1]] != g:  # cells of a group are neighbours
            gain += lgamma(steps.total[g] + T[g]) - lgamma(steps.total[g] + T[g] + more)
            more = 0.0
    return gain
