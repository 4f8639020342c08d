"""A grid whose cell (x, y) holds a reward with probability p_y q_x: the belief as coins, for searches and samplers.

Give every cell two coins: u, heads with the probability p_y of its row, and v, heads with q_x of its column. There is a
reward where both show heads, so a reward seen says u = v = 1, and an empty cell leaves three cases. Given the coins of
all cells seen, p_y and q_x have independent Beta posteriors, and (as in `urn.py`) a simulation that flips the coins of
a new cell from their predictive and counts them has the law of one that draws p and q at its root and keeps them.

The coins of the empty cells are moved by Gibbs sampling with p and q integrated out: each pair (u, v) in turn is drawn
given all others, in proportion to the predictive probabilities of its two coins. `begin` makes `FIRST` sweeps before
the first simulation and one before each other: simulations follow a Markov chain on coins whose law is the posterior's.

A search that comes back to a history (`replay.py`) tells the outcome of a step instead of asking for it. The coins of a
cell told to be empty are then counted by their expectations: exact for that cell alone, an approximation (moments for
the mixture) of what it says about cells beyond.

One hash table holds cells, rows and columns, so that the plane needs no bounds. Before it changes, an entry is noted as
it was, and what was noted is put back in the opposite order, which keeps linear probing right.
"""

from typing import NamedTuple

import numpy as np

from bayesrl.kernels.jit import njit
from bayesrl.kernels.replay import likelihood, replay, undo
from bayesrl.kernels.simulator import begin, forget, implements, inlined, step, wander
from bayesrl.kernels.stream import uniform

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
STEP = -1
"""Noted before a step, instead of an entry."""


class RowColumn(NamedTuple):
    """The belief and the running simulation."""

    key: np.ndarray  # (M, 3) kind, and x and y of a cell, y of a row, x of a column
    used: np.ndarray  # (M,) whether the entry is one
    n: np.ndarray  # (M, 2) tails and heads of a row or column; of a cell: 0, and 1 where a reward is to be had; floats
    pairs: np.ndarray  # (m, 4) of each empty cell seen: its row's entry, its column's, u, v
    prior: np.ndarray  # (3, 2) prior counts of tails and heads by kind
    noted: np.ndarray  # (L, 2) entry, whether it was one
    noted_n: np.ndarray  # (L, 2) and its n
    fill: np.ndarray  # (2,) how much is noted; whether sweeps have begun


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
    """The entry, made if there is none, and noted as it was."""
    slot = place(m, kind, i, j)
    note(m, slot)
    if not m.used[slot]:
        m.used[slot] = True
        m.key[slot, 0], m.key[slot, 1], m.key[slot, 2] = kind, i, j
        m.n[slot, 0] = m.n[slot, 1] = 0.0
    return slot


@inlined
def note(m, slot):
    """Note an entry as it is, because it is about to change."""
    t = m.fill[0]
    m.noted[t, 0] = slot
    if slot != STEP:
        m.noted[t, 1] = m.used[slot]
        m.noted_n[t, 0], m.noted_n[t, 1] = m.n[slot, 0], m.n[slot, 1]
    m.fill[0] = t + 1


@inlined
def put_back(m, stop):
    """Put back what was noted: the last step (stop = STEP), or all of it."""
    t = m.fill[0]
    while t > 0:
        t -= 1
        slot = m.noted[t, 0]
        if slot == STEP:
            if stop == STEP:
                break
        else:
            m.used[slot] = m.noted[t, 1] != 0
            m.n[slot, 0], m.n[slot, 1] = m.noted_n[t, 0], m.noted_n[t, 1]
    m.fill[0] = t


@njit
def learn(m, seen):
    """Enter the cells seen, (n, 3): x, y and what is known; empty ones begin with both coins tails."""
    e = 0
    for t in range(len(seen)):
        x, y, what = seen[t]
        cell, row, column = entry(m, CELL, x, y), entry(m, ROW, y, 0), entry(m, COLUMN, x, 0)
        coin = 0 if what == EMPTY else 1
        m.n[cell, 1] = 1.0 if what == THERE else 0.0
        m.n[row, coin] += 1.0
        m.n[column, coin] += 1.0
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
    """The next coin of a row or column, counted."""
    coin = 1 if uniform(rng) < heads(m, slot) else 0
    m.n[slot, coin] += 1.0
    return coin


@njit
def sweep(m, rng):
    """One Gibbs sweep over the coins of the empty cells."""
    for e in range(len(m.pairs)):
        row, column, u, v = m.pairs[e]
        m.n[row, u] -= 1.0
        m.n[column, v] -= 1.0
        p, q = heads(m, row), heads(m, column)
        # (u, v) = (1, 0), (0, 1), (0, 0) in proportion to p (1 - q), (1 - p) q, (1 - p) (1 - q)
        r = uniform(rng) * (1.0 - p * q)
        u = 1 if r < p * (1.0 - q) else 0
        v = 1 if u == 0 and r < p * (1.0 - q) + (1.0 - p) * q else 0
        m.pairs[e, 2], m.pairs[e, 3] = u, v
        m.n[row, u] += 1.0
        m.n[column, v] += 1.0


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
        tails_, heads_ = (m.n[slot, 0], m.n[slot, 1]) if m.used[slot] else (0.0, 0.0)
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
            p[i] += next_heads(m, ROW, place(m, ROW, ys[i], 0)) / sweeps
        for i in range(len(xs)):
            q[i] += next_heads(m, COLUMN, place(m, COLUMN, xs[i], 0)) / sweeps
    return p, q


@inlined
def next_heads(m, kind, slot):
    """Mean of a parameter given all coins, at an entry that need not be one yet."""
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
    note(model, STEP)
    if not model.used[cell]:
        entry(model, CELL, x, y)
        u = flip(model, entry(model, ROW, y, 0), rng)
        v = flip(model, entry(model, COLUMN, x, 0), rng)
        k = u * v
    elif model.n[cell, 1] == 1.0:
        note(model, cell)
        model.n[cell, 1] = 0.0
        k = 1
    return k, there, float(k), False, 0


@implements(forget, RowColumn)
@njit
def _forget(model, marks, n):
    put_back(model, 0)


@implements(wander, RowColumn)
@njit
def _wander(model, P, s, a, epsilon, rng):
    """Any way but back (the author's rollouts): where one came from there is nothing left."""
    if a < 0:
        return int(uniform(rng) * 4)
    return (a + 3 + int(uniform(rng) * 3)) % 4


# A search that comes back to a history (`replay.py`) ----------------------------------------------------------------


@implements(replay, RowColumn)
@njit
def _replay(model, s, a, k):
    there = s + DX[a] * WIDTH + DY[a]
    x, y = there // WIDTH, there % WIDTH - HALF
    cell = place(model, CELL, x, y)
    note(model, STEP)
    if not model.used[cell]:
        entry(model, CELL, x, y)
        row, column = entry(model, ROW, y, 0), entry(model, COLUMN, x, 0)
        p, q = heads(model, row), heads(model, column)
        u = 1.0 if k == 1 else p * (1.0 - q) / (1.0 - p * q)
        v = 1.0 if k == 1 else q * (1.0 - p) / (1.0 - p * q)
        model.n[row, 1] += u
        model.n[row, 0] += 1.0 - u
        model.n[column, 1] += v
        model.n[column, 0] += 1.0 - v
    elif model.n[cell, 1] == 1.0:
        note(model, cell)
        model.n[cell, 1] = 0.0


@implements(undo, RowColumn)
@njit
def _undo(model, s, a, k):
    put_back(model, STEP)


@implements(likelihood, RowColumn)
@njit
def _likelihood(model, s, a, k):
    there = s + DX[a] * WIDTH + DY[a]
    x, y = there // WIDTH, there % WIDTH - HALF
    cell = place(model, CELL, x, y)
    p = model.n[cell, 1]
    if not model.used[cell]:
        row, column = place(model, ROW, y, 0), place(model, COLUMN, x, 0)
        p = next_heads(model, ROW, row) * next_heads(model, COLUMN, column)
    return p if k == 1 else 1.0 - p
