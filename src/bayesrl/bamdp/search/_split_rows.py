"""Rows of flat models with many states, split into one count shared by all outcomes and the extra counts of a few.

A row of counts is phi_k = b + n_k, where n_k is zero for all outcomes that were not seen. So

- its mean, sum_k phi_k v_k = b sum_k v_k + sum_k n_k v_k, costs O(seen), since the first sum is the same for all rows;
- a Dirichlet draw combines Gamma(n_k) for every outcome seen and Gamma(c), c = K b, times a draw from the Dirichlet of
  b, and normalises. The latter is drawn by stick breaking (`kernels/random/stick_breaking.py`), which for c = 1 takes
  about 37 pieces instead of K gamma variates.

Shapes: S states, A actions, K = S outcomes (outcome k leads to state k), G = S A rows, N entries of lists.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from bayesrl.kernels.arrays import F1, F2, I1
from bayesrl.kernels.jit import njit
from bayesrl.kernels.random.stick_breaking import break_stick, share_of_prior
from bayesrl.kernels.random.stream import stream
from bayesrl.kernels.simulators.counts import Counts

MANY_STATES = 64
"""Number of states from which rows are split."""
LARGEST_BASE = 1 / MANY_STATES
"""The largest b; at this b a row has about half as many pieces as outcomes."""


class Split(NamedTuple):
    """Counts of a flat model, and the outcomes that a search has added to them."""

    base: F1  # (G,) b, the count that every outcome has
    total: F1  # (G,) sum of all counts
    reward: F2  # (G, K)
    reward_sum: F1  # (G,) the sum of a row's rewards
    first: I1  # (G,) where the row's list begins
    size: I1  # (G,) how long it is
    k: I1  # (N,) outcome; it may be listed twice
    n: F1  # (N,) its count beyond b


class ListedModel(NamedTuple):
    """A model: in row g every outcome has probability share[g], and listed outcomes have p in addition."""

    r: F1  # (G,) expected reward
    share: F1  # (G,)
    first: I1  # (G + 1,) where the row's list begins; the next row's list follows
    k: I1  # (N,)
    p: F1  # (N,)


@njit
def split_rows(m: Counts, flat: bool, D: int) -> Split:
    """Split the counts of a flat model, with room for D more in each row; empty if splitting does not pay."""
    S, A, K = m.succ.shape
    base, seen = np.empty(S * A), 0
    fits = flat and K >= MANY_STATES and len(m.values) == 0 and m.gain.min() > 0.0 and m.alpha == 0.0
    if fits:
        for g in range(S * A):
            base[g] = m.phi[g, 0]
            for k in range(1, K):
                base[g] = min(base[g], m.phi[g, k])
            for k in range(K):
                n = m.phi[g, k] - base[g]
                seen += n > 0.0
                fits = fits and (n == 0.0 or n > 0.5)  # smaller counts would need draws in logarithms
            fits = fits and base[g] <= LARGEST_BASE
    G = S * A if fits else 0
    N = seen + G * D if fits else 0
    c = Split(
        base[:G], m.total[:G].copy(), m.reward.reshape(S * A, K)[:G], np.empty(G), np.empty(G, np.int64),
        np.zeros(G, np.int64), np.empty(N, np.int32), np.empty(N),
    )  # fmt: skip
    at = 0
    for g in range(G):
        c.first[g], c.reward_sum[g] = at, sum_of(c.reward[g])
        for k in range(K):
            if m.phi[g, k] > base[g]:
                c.k[at + c.size[g]], c.n[at + c.size[g]] = k, m.phi[g, k] - base[g]
                c.size[g] += 1
        at += c.size[g] + D
    return c


@njit
def add_outcome(c: Split, g: int, k: int) -> None:
    """Add outcome k to row g."""
    i = c.first[g] + c.size[g]
    c.k[i], c.n[i] = k, 1.0
    c.size[g] += 1
    c.total[g] += 1.0


@njit
def remove_outcome(c: Split, g: int) -> None:
    """Remove the outcome that was last added to row g."""
    c.size[g] -= 1
    c.total[g] -= 1.0


@njit
def empty_model(c: Split) -> ListedModel:
    """An empty model with room for three times the expected number of pieces at the largest b."""
    G, K = c.reward.shape
    N = 2 * G * K + len(c.k)
    return ListedModel(np.empty(G), np.zeros(G), np.zeros(G + 1, np.int64), np.empty(N, np.int32), np.empty(N))


@njit
def mean_rows(c: Split, x: ListedModel) -> None:
    """x <- the mean of the counts."""
    i = 0
    for g in range(len(c.base)):
        x.share[g] = c.base[g] / c.total[g]
        x.r[g] = x.share[g] * c.reward_sum[g]
        for j in range(c.first[g], c.first[g] + c.size[g]):
            x.k[i], x.p[i] = c.k[j], c.n[j] / c.total[g]
            x.r[g] += x.p[i] * c.reward[g, x.k[i]]
            i += 1
        x.first[g + 1] = i


@njit
def draw_rows(rng: Generator, c: Split, x: ListedModel) -> None:
    """x <- a draw from the Dirichlets of the counts."""
    K, own = c.reward.shape[1], stream(rng)
    i = 0
    for g in range(len(c.base)):
        start, mass = i, K * c.base[g]
        for j in range(c.first[g], c.first[g] + c.size[g]):
            x.k[i], x.p[i] = c.k[j], rng.standard_gamma(c.n[j])
            i += 1
        left = share_of_prior(x.p, start, i, mass, rng)
        i, left = break_stick(x.k, x.p, i, left, mass, K, own)
        x.share[g], x.r[g], x.first[g + 1] = 0.0, 0.0, i
        for j in range(start, i):
            x.r[g] += x.p[j] * c.reward[g, x.k[j]]


@njit
def listed_lookahead(x: ListedModel, s0: int, d: int, gamma: float, V0: F1, v: F2, q: F1) -> float:
    """Backward induction: fill q[a] = Q_d(s0, a), return V_d(s0). v (2, S) is scratch."""
    for s in range(len(V0)):
        v[0, s] = V0[s]
    for i in range(d - 1):
        total = sum_of(v[i % 2])
        for s in range(len(V0)):
            v[1 - i % 2, s] = backup(x, s, gamma, v[i % 2], total, q)
    return backup(x, s0, gamma, v[(d - 1) % 2], sum_of(v[(d - 1) % 2]), q)


@njit
def backup(x: ListedModel, s: int, gamma: float, v: F1, total: float, q: F1) -> float:
    """Fill q[a] = r + gamma sum_k P(k | s, a) v[k] and return the largest; total is the sum of v."""
    A, best = len(q), -np.inf
    for a in range(A):
        g = s * A + a
        mean = x.share[g] * total
        for i in range(x.first[g], x.first[g + 1]):
            mean += x.p[i] * v[x.k[i]]
        q[a] = x.r[g] + gamma * mean
        best = max(best, q[a])
    return best


@njit
def sum_of(x: F1) -> float:
    """The sum of x."""
    total = 0.0
    for i in range(len(x)):
        total += x[i]
    return total
