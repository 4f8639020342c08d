"""A grid whose cell (x, y) holds a reward with probability p_y q_x: the belief as coins, for searches and samplers.

Give every cell two coins: u, heads with the probability p_y of its row, and v, heads with q_x of its column. There is a
reward where both show heads, so a reward seen says u = v = 1, and an empty cell leaves three cases. Given the coins of
all cells seen, p_y and q_x have independent Beta posteriors, and (as in `urn.py`) a simulation that flips the coins of
a new cell from their predictive and counts them has the law of one that draws p and q at its root and keeps them.

The coins of the empty cells are moved by Gibbs sampling with p and q integrated out: each pair (u, v) in turn is drawn
given all others, in proportion to the predictive probabilities of its two coins. `begin` makes `FIRST` sweeps before
the first simulation and one before each other: simulations follow a Markov chain on coins whose law is the posterior's.

One hash table holds cells, rows and columns, so that the plane needs no bounds. What a simulation writes is undone in
the opposite order, which keeps linear probing right.
"""

from typing import NamedTuple

import numba
import numpy as np

from bayesrl.kernels.jit import njit
from bayesrl.kernels.simulator import INLINED, begin, forget, implements, step, wander

inlined = numba.njit(cache=True, nogil=True, **INLINED)
FIRST = 50
"""Sweeps before the first simulation."""
CELL, ROW, COLUMN = 0, 1, 2
"""What an entry of the table is."""
EMPTY, TAKEN, THERE = 0, 1, 2
"""What is known of a cell: nothing was there, a reward was and has been taken, a reward is there."""
DX, DY = (0, 1, 0, -1), (1, 0, -1, 0)
"""Up, right, down, left: the opposite of action a is (a + 2) % 4."""
WIDTH, HALF = 1 << 32, 1 << 31
"""The cell (x, y) as a number: x WIDTH + y + HALF."""
ADDED, TOOK = 2, 3
"""What to undo, besides a coin that showed tails (0) or heads (1)."""


class RowColumn(NamedTuple):
    """The belief and the running simulation."""

    key: np.ndarray  # (M, 3) kind, and x and y of a cell, y of a row, x of a column
    used: np.ndarray  # (M,) whether the entry is one
    n: np.ndarray  # (M, 2) tails and heads of a row or column; of a cell: 0, and 1 where a reward is to be had
    pairs: np.ndarray  # (m, 4) of each empty cell seen: its row's entry, its column's, u, v
    prior: np.ndarray  # (3, 2) prior counts of tails and heads by kind
    undo: np.ndarray  # (L, 2) entry, and what to undo
    fill: np.ndarray  # (2,) how much of `undo` is filled; whether sweeps have begun


# The table -----------------------------------------------------------------------------------------------------------


@inlined
def place(m, kind, i, j):
    """Where the entry is, or where it would be."""
    h = kind * 0x9E3779B1 + i * 0x85EBCA77 + j * 0xC2B2AE3D
    slot = (h ^ (h >> 15)) & (len(m.used) - 1)
    while m.used[slot] and (m.key[slot, 0] != kind or m.key[slot, 1] != i or m.key[slot, 2] != j):
        slot = (slot + 1) & (len(m.used) - 1)
    return slot


@inlined
def entry(m, kind, i, j):
    """The entry, made if there is none."""
    slot = place(m, kind, i, j)
    if not m.used[slot]:
        m.used[slot] = True
        m.key[slot, 0], m.key[slot, 1], m.key[slot, 2] = kind, i, j
        m.n[slot, 0] = m.n[slot, 1] = 0
        note(m, slot, ADDED)
    return slot


@inlined
def note(m, slot, what):
    """Remember what is to be undone."""
    m.undo[m.fill[0], 0], m.undo[m.fill[0], 1] = slot, what
    m.fill[0] += 1


@njit
def learn(m, seen):
    """Enter the cells seen, (n, 3): x, y and what is known; empty ones begin with both coins tails."""
    e = 0
    for t in range(len(seen)):
        x, y, what = seen[t]
        cell, row, column = entry(m, CELL, x, y), entry(m, ROW, y, 0), entry(m, COLUMN, x, 0)
        coin = 0 if what == EMPTY else 1
        m.n[cell, 1] = 1 if what == THERE else 0
        m.n[row, coin] += 1
        m.n[column, coin] += 1
        if what == EMPTY:
            m.pairs[e] = (row, column, 0, 0)
            e += 1
        m.fill[0] = 0  # what was seen is not undone


# Coins ---------------------------------------------------------------------------------------------------------------


@inlined
def heads(m, slot):
    """Predictive probability of heads of a row's or column's next coin."""
    kind = m.key[slot, 0]
    up, down = m.prior[kind, 1] + m.n[slot, 1], m.prior[kind, 0] + m.n[slot, 0]
    return up / (up + down)


@inlined
def flip(m, slot, rng):
    """The next coin of a row or column, counted until the simulation ends."""
    coin = 1 if rng.random() < heads(m, slot) else 0
    m.n[slot, coin] += 1
    note(m, slot, coin)
    return coin


@njit
def sweep(m, rng):
    """One Gibbs sweep over the coins of the empty cells."""
    for e in range(len(m.pairs)):
        row, column, u, v = m.pairs[e]
        m.n[row, u] -= 1
        m.n[column, v] -= 1
        p, q = heads(m, row), heads(m, column)
        # (u, v) = (1, 0), (0, 1), (0, 0) in proportion to p (1 - q), (1 - p) q, (1 - p) (1 - q)
        r = rng.random() * (1.0 - p * q)
        u = 1 if r < p * (1.0 - q) else 0
        v = 1 if u == 0 and r < p * (1.0 - q) + (1.0 - p) * q else 0
        m.pairs[e, 2], m.pairs[e, 3] = u, v
        m.n[row, u] += 1
        m.n[column, v] += 1


@njit
def sample(m, ys, xs, rng):
    """p of these rows and q of these columns from one joint draw, after the first sweeps."""
    start(m, rng)
    return posterior_draw(m, ROW, ys, rng), posterior_draw(m, COLUMN, xs, rng)


@njit
def posterior_draw(m, kind, indices, rng):
    """Parameters of rows or columns given all coins."""
    drawn = np.empty(len(indices))
    for i in range(len(indices)):
        slot = place(m, kind, indices[i], 0)
        tails_, heads_ = (m.n[slot, 0], m.n[slot, 1]) if m.used[slot] else (0, 0)
        drawn[i] = rng.beta(m.prior[kind, 1] + heads_, m.prior[kind, 0] + tails_)
    return drawn


@njit
def mean(m, ys, xs, sweeps, rng):
    """Posterior means of p and q, over so many sweeps after the first."""
    p, q = np.zeros(len(ys)), np.zeros(len(xs))
    start(m, rng)
    for _ in range(sweeps):
        sweep(m, rng)
        for i in range(len(ys)):
            p[i] += conditional_mean(m, ROW, ys[i]) / sweeps
        for i in range(len(xs)):
            q[i] += conditional_mean(m, COLUMN, xs[i]) / sweeps
    return p, q


@njit
def conditional_mean(m, kind, i):
    """Mean of a parameter given all coins."""
    slot = place(m, kind, i, 0)
    return heads(m, slot) if m.used[slot] else m.prior[kind, 1] / (m.prior[kind, 0] + m.prior[kind, 1])


@njit
def start(m, rng):
    """The first sweeps."""
    for _ in range(FIRST):
        sweep(m, rng)


# A search's view (`simulator.py`); a state is a cell as a number ----------------------------------------------------


@implements(begin, RowColumn)
@njit
def _begin(model, rng):
    if model.fill[1] == 0:
        model.fill[1] = 1
        start(model, rng)
    else:
        sweep(model, rng)


@implements(step, RowColumn)
@njit
def _step(model, s, a, rng):
    there = s + DX[a] * WIDTH + DY[a]
    x, y = there // WIDTH, there % WIDTH - HALF
    cell, k = place(model, CELL, x, y), 0
    if not model.used[cell]:
        entry(model, CELL, x, y)
        u = flip(model, entry(model, ROW, y, 0), rng)
        v = flip(model, entry(model, COLUMN, x, 0), rng)
        k = u * v
    elif model.n[cell, 1] == 1:
        k = 1
        model.n[cell, 1] = 0
        note(model, cell, TOOK)
    return k, there, float(k), False, 0


@implements(forget, RowColumn)
@njit
def _forget(model, marks, n):
    for t in range(model.fill[0] - 1, -1, -1):
        slot, what = model.undo[t]
        if what == ADDED:
            model.used[slot] = False
        elif what == TOOK:
            model.n[slot, 1] = 1
        else:
            model.n[slot, what] -= 1
    model.fill[0] = 0


@implements(wander, RowColumn)
@njit
def _wander(model, Q, s, a, epsilon, rng):
    """Any way but back (the author's rollouts): where one came from there is nothing left."""
    if a < 0:
        return int(rng.random() * 4)
    return (a + 3 + int(rng.random() * 3)) % 4
