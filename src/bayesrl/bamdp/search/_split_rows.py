"""Flat models of many states, each row split into what all its outcomes have in common and the few that have more.

A row of counts is phi_k = b + n_k, and n_k is zero for all outcomes but those seen. So

- its mean, sum_k phi_k v_k = b sum_k v_k + sum_k n_k v_k, costs O(seen): the first sum is the same for all rows;
- a Dirichlet draw is Gamma(n_k) for every outcome seen, and Gamma(c), c = K b, times a draw from the Dirichlet of b
  alone, normalised. The latter is a stick that is broken again and again, each piece thrown at an outcome chosen at
  random: breaking leaves the share U^(1/c) of what there was (Sethuraman 1994). Once what is left is less than what
  rounding does to a sum of K terms, it is dropped: where c = 1 that takes some 30 pieces instead of K gamma variates.

Shapes: S states, A actions, K = S outcomes (outcome k leads to state k), G = S A rows, N entries of lists.
"""

from typing import NamedTuple

import numpy as np

from bayesrl.kernels.jit import njit
from bayesrl.kernels.stream import stream, uniform

MANY = 64
"""Number of states from which rows are split."""
RARE = 1 / MANY
"""The largest b: a row then has about half as many pieces as outcomes."""


class Split(NamedTuple):
    """Counts of a flat model, and the outcomes that a search has added to them."""

    base: np.ndarray  # (G,) b, the count that every outcome has
    total: np.ndarray  # (G,) sum of all counts
    reward: np.ndarray  # (G, K)
    paid: np.ndarray  # (G,) the sum of a row's rewards
    first: np.ndarray  # (G,) where the row's list begins
    size: np.ndarray  # (G,) how long it is
    k: np.ndarray  # (N,) outcome; may be listed twice
    n: np.ndarray  # (N,) its count beyond b


class Light(NamedTuple):
    """A model: in row g every outcome has probability share[g], and those listed have p more."""

    r: np.ndarray  # (G,) expected reward
    share: np.ndarray  # (G,)
    first: np.ndarray  # (G + 1,) where the row's list begins; the last one ends where the next would begin
    k: np.ndarray  # (N,)
    p: np.ndarray  # (N,)


@njit
def split(m, flat, D):
    """The counts of a flat model with room for D more of each row; empty where splitting them does not pay."""
    S, A, K = m.succ.shape
    base, seen = np.empty(S * A), 0
    fits = flat and K >= MANY and len(m.values) == 0 and m.gain.min() > 0.0 and m.alpha == 0.0
    if fits:
        for g in range(S * A):
            base[g] = m.phi[g, 0]
            for k in range(1, K):
                base[g] = min(base[g], m.phi[g, k])
            for k in range(K):
                n = m.phi[g, k] - base[g]
                seen += n > 0.0
                fits = fits and (n == 0.0 or n > 0.5)  # smaller ones would have to be drawn through logarithms
            fits = fits and base[g] <= RARE
    G = S * A if fits else 0
    N = seen + G * D if fits else 0
    c = Split(
        base[:G], m.total[:G].copy(), m.reward.reshape(S * A, K)[:G], np.empty(G), np.empty(G, np.int64),
        np.zeros(G, np.int64), np.empty(N, np.int32), np.empty(N),
    )  # fmt: skip
    at = 0
    for g in range(G):
        c.first[g], c.paid[g] = at, sum_of(c.reward[g])
        for k in range(K):
            if m.phi[g, k] > base[g]:
                c.k[at + c.size[g]], c.n[at + c.size[g]] = k, m.phi[g, k] - base[g]
                c.size[g] += 1
        at += c.size[g] + D
    return c


@njit
def put(c, g, k):
    """Add outcome k to row g."""
    i = c.first[g] + c.size[g]
    c.k[i], c.n[i] = k, 1.0
    c.size[g] += 1
    c.total[g] += 1.0


@njit
def take(c, g):
    """Take away the outcome that was last added to row g."""
    c.size[g] -= 1
    c.total[g] -= 1.0


@njit
def room(c):
    """A model to be filled, with room for four times as many pieces as there are on average where b is largest."""
    G, K = c.reward.shape
    N = 2 * G * K + len(c.k)
    return Light(np.empty(G), np.zeros(G), np.zeros(G + 1, np.int64), np.empty(N, np.int32), np.empty(N))


@njit
def mean_rows(c, x):
    """x <- the mean of the counts."""
    i = 0
    for g in range(len(c.base)):
        x.share[g] = c.base[g] / c.total[g]
        x.r[g] = x.share[g] * c.paid[g]
        for j in range(c.first[g], c.first[g] + c.size[g]):
            x.k[i], x.p[i] = c.k[j], c.n[j] / c.total[g]
            x.r[g] += x.p[i] * c.reward[g, x.k[i]]
            i += 1
        x.first[g + 1] = i


@njit
def drawn_rows(rng, c, x):
    """x <- a draw from the Dirichlets of the counts."""
    K, own = c.reward.shape[1], stream(rng)
    i = 0
    for g in range(len(c.base)):
        start, mass, total = i, K * c.base[g], 0.0
        for j in range(c.first[g], c.first[g] + c.size[g]):
            x.k[i], x.p[i] = c.k[j], rng.standard_gamma(c.n[j])
            total += x.p[i]
            i += 1
        left = rng.standard_gamma(mass) if i > start else 1.0
        total += left
        for j in range(start, i):
            x.p[j] /= total
        left /= total
        while left > K * 2.0**-53:
            u = uniform(own)
            rest = left * (u if mass == 1.0 else u ** (1.0 / mass))
            x.k[i], x.p[i] = int(uniform(own) * K), left - rest
            left = rest
            i += 1
        x.share[g], x.r[g], x.first[g + 1] = 0.0, 0.0, i
        for j in range(start, i):
            x.r[g] += x.p[j] * c.reward[g, x.k[j]]


@njit
def lookahead(x, s0, d, gamma, V0, v, q):
    """Backward induction: q[a] = Q_d(s0, a), and returned V_d(s0). v (2, S) is scratch."""
    for s in range(len(V0)):
        v[0, s] = V0[s]
    for i in range(d - 1):
        total = sum_of(v[i % 2])
        for s in range(len(V0)):
            v[1 - i % 2, s] = backup(x, s, gamma, v[i % 2], total, q)
    return backup(x, s0, gamma, v[(d - 1) % 2], sum_of(v[(d - 1) % 2]), q)


@njit
def backup(x, s, gamma, v, total, q):
    """q[a] = r + gamma sum_k P(k | s, a) v[k], and the largest of them; total is the sum of v."""
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
def sum_of(x):
    """The sum of x."""
    total = 0.0
    for i in range(len(x)):
        total += x[i]
    return total
