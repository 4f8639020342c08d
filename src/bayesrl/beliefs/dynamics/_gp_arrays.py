"""Gaussian-process dynamics as arrays, for compiled searches and sampled paths: Gaussian covariances only.

After n data row n of the factor L is free. `predict` at (s, a) writes L^-1 k(X, (s, a)) and the pivot into it: that row
says the mean l'w and the variance pivot^2 of the next state, and it is the row of the datum that comes next. To learn
the next state it is enough to write its whitened value into w, which is the standard normal number that drew it:

    predict(gp, n, s, a, mean, deviation)        # O(n^2)
    after = mean + deviation * z                 # a draw of the next state
    learn(gp, n, z)                              # O(1): the datum (s, a, after)
    predict(gp, n + 1, after, ...)               # the belief that has seen it

A tree goes back by counting with n again: rows from n on are written anew. So one set of arrays serves as its stack.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bayesrl.kernels.arrays import F1, F2, F3, I1
from bayesrl.kernels.jit import any_order


class Processes(NamedTuple):
    """P processes that share G factors: coordinates of the next state, and the reward last if it is learned."""

    X: F2
    """Inputs (s, a), (N, d + e), with room for N data."""
    L: F2
    """Packed rows of the factors, (G, N (N + 1) / 2)."""
    w: F2
    """Whitened targets of each process, (P, N)."""
    factor: I1
    """The factor of each process, (P,)."""
    scale: F2
    """(G, d + e)."""
    variance: F1
    """Prior variances, (G,)."""
    noise: F1
    """Variances of the noise, (G,)."""
    relative: bool
    """Whether the prior mean of the next state is the state."""


@any_order
def predict(gp: Processes, n: int, s: F1, a: F1, mean: F1, deviation: F1) -> None:
    """Means and standard deviations, noise included, of the processes at (s, a) after n data; both arrays (P,).

    Row n of the factors becomes that of a datum at (s, a).
    """
    d, D = len(s), gp.X.shape[1]
    x = gp.X[n]
    x[:d], x[d:] = s, a
    start = n * (n + 1) // 2
    for g in range(len(gp.L)):
        L, scale, v = gp.L[g], gp.scale[g], gp.variance[g]
        row = L[start : start + n + 1]
        left = v
        for i in range(n):
            distance = 0.0
            for c in range(D):
                u = (gp.X[i, c] - x[c]) / scale[c]
                distance += u * u
            first = i * (i + 1) // 2
            above = L[first : first + i + 1]
            total = 0.0
            for j in range(i):
                total += above[j] * row[j]
            row[i] = (v * math.exp(-0.5 * distance) - total) / above[i]
            left -= row[i] * row[i]
        row[n] = math.sqrt(max(left, 0.0) + gp.noise[g])
    for p in range(len(gp.w)):
        w, row = gp.w[p], gp.L[gp.factor[p], start : start + n + 1]
        total = 0.0
        for i in range(n):
            total += row[i] * w[i]
        mean[p] = total + s[p] if gp.relative and p < d else total
        deviation[p] = row[n]


@any_order
def learn(gp: Processes, n: int, z: F1) -> None:
    """Datum n: what was seen where `predict` wrote row n, as standard normal numbers (value - mean) / deviation."""
    for p in range(len(z)):
        gp.w[p, n] = z[p]


@any_order
def follow(gp: Processes, n: int, starts: F2, actions: F2, z: F3) -> F3:
    """Paths from each start under the actions, (paths, T + 1, d), by standard normal numbers z, (paths, T, d).

    Each path learns what it has drawn, so that it follows one function.
    """
    T, d = len(actions), starts.shape[1]
    mean, deviation = np.empty(len(gp.w)), np.empty(len(gp.w))
    paths = np.empty((len(starts), T + 1, d))
    for i in range(len(starts)):
        path = paths[i]
        path[0] = starts[i]
        for t in range(T):
            predict(gp, n + t, path[t], actions[t], mean, deviation)
            for p in range(d):
                path[t + 1, p] = mean[p] + deviation[p] * z[i, t, p]
            learn(gp, n + t, z[i, t])
    return paths
