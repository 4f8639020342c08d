"""Readings of weighted hyper-states, draws from them, and the check of those that a file holds; compiled."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from bayesrl.beliefs.pomdp.hyper_states import FRESH, KEYS, Branches, HyperStates, Rows, counts_in, insert, present
from bayesrl.errors import InvalidArgument
from bayesrl.kernels.arrays import F1, F2
from bayesrl.kernels.jit import inlined, njit
from bayesrl.kernels.simulators.simulator import borrowed

# Readings ------------------------------------------------------------------------------------------------------------


@njit
def observations_after(m: Rows, h: HyperStates, a: int, Z: int) -> F1:
    """Probability of each observation after action a, (Z,)."""
    m, h = borrowed(m), borrowed(h)
    p, x, z, none = np.zeros(Z), np.empty(m.alpha.shape[1]), np.empty(m.alpha.shape[1]), np.empty(0, np.int64)
    for i in range(len(h.state)):
        for s in present(m, h.state[i]):
            w = h.weight[i] * (m.start[s] if h.state[i] < 0 else 1.0)
            g = m.move[s, a]
            moves = counts_in(m, h, i, none, g, x)
            for k in range(m.size[g]):
                y = m.succ[s, a, k]
                if x[k] > 0.0:
                    shows = counts_in(m, h, i, none, m.show[y, a], z)
                    for j in range(m.size[m.show[y, a]]):
                        p[m.observation[y, a, j]] += w * (x[k] / moves) * (z[j] / shows)
    return p


@njit
def mean_rows(m: Rows, h: HyperStates) -> F2:
    """The mean of each row under the mixture, (R, W). Only the rows in a hyper-state's list differ from the prior."""
    m, h = borrowed(m), borrowed(h)
    R, W = m.alpha.shape
    mean, touched, x, none = np.zeros((R, W)), np.zeros(R), np.empty(W), np.empty(0, np.int64)
    for i in range(len(h.weight)):
        last = -1
        for t in range(h.first[i], h.first[i + 1]):
            r = h.cell[t] // W
            if r != last:
                total = counts_in(m, h, i, none, r, x)
                for k in range(m.size[r]):
                    mean[r, k] += h.weight[i] * x[k] / total
                touched[r] += h.weight[i]
                last = r
    for r in range(R):
        for k in range(m.size[r]):
            mean[r, k] += max(1.0 - touched[r], 0.0) * m.alpha[r, k] / m.total[r]
        mean[r] /= mean[r].sum()
    return mean


# Drawing -------------------------------------------------------------------------------------------------------------


@njit
def draw_step(m: Rows, h: HyperStates, N: int, a: int, o: int, ended: bool, rng: Generator) -> Branches:
    """N hyper-states after a drawn outcome, weighted by the observation that came, which is then counted.

    A single hyper-state (the prior) is copied N times. Otherwise there are N.
    """
    m, h = borrowed(m), borrowed(h)
    W, pad = m.alpha.shape[1], len(m.mix)
    x, none = np.empty(W), np.empty(0, np.int64)
    path = np.full((N, 2), pad)
    new = Branches(np.zeros(N), np.zeros(N, np.int64), np.zeros(N, np.int64), path, np.zeros(N, np.int64))
    for n in range(N):
        i = 0 if len(h.state) == 1 else n
        w = 1.0 / N if len(h.state) == 1 else h.weight[i]
        s = h.state[i] if h.state[i] >= 0 else draw(m.start, 1.0, rng)
        g = m.move[s, a]
        moves = counts_in(m, h, i, none, g, x)
        k = draw(x[: m.size[g]], moves, rng)
        y = m.succ[s, a, k]
        r = m.show[y, a]
        shows = counts_in(m, h, i, none, r, x)
        shown = 0.0
        for j in range(m.size[r]):
            x[j] = x[j] if m.observation[y, a, j] == o else 0.0
            shown += x[j]
        new.root[n], new.state[n], new.key[n] = i, y, h.key[i]
        if shown == 0.0 or m.terminal[y] != ended:
            continue
        new.weight[n] = w * shown / shows
        j = draw(x[: m.size[r]], shown, rng)
        if m.learnt[g] and moves < m.bound:
            new.key[n] = (new.key[n] + insert(path[n], g * W + k, m.mix)) % KEYS
        if m.learnt[r] and shows < m.bound:
            new.key[n] = (new.key[n] + insert(path[n], r * W + j, m.mix)) % KEYS
    return new


@inlined
def draw(x: F1, total: float, rng: Generator) -> int:
    """An index, with probability proportional to x."""
    u, last = rng.random() * total, 0
    for k in range(len(x)):
        if x[k] > 0.0:
            last = k
            u -= x[k]
            if u < 0.0:
                break
    return last


@njit
def resampled(b: Branches, rng: Generator) -> Branches:
    """As many branches of equal weight, drawn by systematic resampling."""
    n = len(b.weight)
    u, chosen, i = rng.random(), np.empty(n, np.int64), 0
    step = b.weight.sum() / n
    below = b.weight[0]
    for t in range(n):
        while i < n - 1 and below <= (t + u) * step:
            i += 1
            below += b.weight[i]
        chosen[t] = i
    weight = np.full(n, step)
    return Branches(weight, b.state[chosen], b.root[chosen], b.path[chosen], b.key[chosen])


# Files ---------------------------------------------------------------------------------------------------------------


def check_hyper_states(owner: str, m: Rows, h: HyperStates) -> None:
    """Refuse hyper-states that do not belong to a prior: compiled code would read beyond its arrays."""
    kinds = [(x.ndim, x.dtype.kind, x.dtype.itemsize) if isinstance(x, np.ndarray) else None for x in h]
    N, W = len(h.weight), m.alpha.shape[1]
    sound = kinds == [(1, "f", 8)] + [(1, "i", 8)] * 5 and len(h.state) == len(h.key) == N
    sound = sound and len(h.first) == N + 1 and h.first[0] == 0 and h.first[-1] == len(h.cell) == len(h.times)
    sound = sound and bool((np.diff(h.first) >= 0).all() and (h.weight >= 0.0).all())
    sound = sound and abs(float(h.weight.sum()) - 1.0) < 1e-6  # so there are some, and all are finite
    fresh = bool((h.state == FRESH).all())
    sound = sound and (fresh or bool(((h.state >= 0) & (h.state < len(m.start))).all())) and bool((h.times > 0).all())
    sound = sound and bool(((h.cell >= 0) & (h.cell < len(m.mix))).all() and m.learnt[h.cell // W].all())
    if sound:
        inner = np.ones(len(h.cell), np.bool_)
        inner[h.first[:-1][h.first[:-1] < len(h.cell)]] = False
        sound = bool((np.diff(h.cell)[inner[1:]] > 0).all() and (h.cell % W < m.size[h.cell // W]).all())
    if sound:
        mixes = [int(n) * int(m.mix[c]) for c, n in zip(h.cell, h.times, strict=True)]
        sound = all(sum(mixes[h.first[i] : h.first[i + 1]]) % KEYS == h.key[i] for i in range(N))
    if not sound:
        raise InvalidArgument(owner, "hyper", "hyper-states of its prior", type(h).__name__)
