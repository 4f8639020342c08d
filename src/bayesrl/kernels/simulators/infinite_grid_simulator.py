"""A grid whose cell (x, y) holds a reward with probability p_y q_x: data augmentation by coins, and Gibbs sampling.

Each cell has two coins: u shows heads with the probability p_y of its row, and v with q_x of its column. The cell holds
a reward if both show heads. A cell with a reward thus has u = v = 1; an empty cell leaves three cases. Given the coins
of all cells seen, p_y and q_x have independent Beta posteriors. A simulation draws the coins of a new cell from their
predictive and counts them. As in `urn.py`, this has the law of drawing p and q once, at the root.

The coins of empty cells are latent. They are drawn by Gibbs sampling with p and q integrated out: each pair (u, v) in
turn is drawn given all others, in proportion to the predictive probabilities of its two coins. `begin` makes `FIRST`
sweeps before the first simulation and one sweep before each later one. The simulations follow a Markov chain whose
stationary distribution is the posterior.

A search that returns to a history (`replay.py`) gives the outcome of a step instead of drawing it. The coins of a cell
that is given as empty are then counted by their expectations. This is exact for that cell alone. It approximates what
the cell says about other cells, by the moments of the mixture.

One hash table holds cells, rows and columns, so that the plane is unbounded. Before an entry changes, it is saved in
a journal. Entries are restored in reverse order, which keeps linear probing valid.
"""

from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from bayesrl.kernels.arrays import B1, F1, F2, I1, I2
from bayesrl.kernels.jit import inlined, njit
from bayesrl.kernels.random.stream import uniform
from bayesrl.kernels.simulators.reversible_step import likelihood, replay, undo
from bayesrl.kernels.simulators.simulator import begin, forget, implements, rollout_action, step

FIRST = 50
"""Sweeps before the first simulation."""
CELL, ROW, COLUMN = 0, 1, 2
"""Kinds of entries in the table."""
EMPTY, TAKEN, THERE = 0, 1, 2
"""The three states of a known cell: it was empty, its reward was taken, or it holds a reward."""
DX, DY = (0, 1, 0, -1), (1, 0, -1, 0)
"""Up, right, down, left: the opposite of action a is (a + 2) % 4."""
WIDTH, HALF = 1 << 32, 1 << 31
"""The cell (x, y) as a number: x WIDTH + y + HALF."""
STEP = -1
"""Saved in the journal before each step, in place of an entry."""


class RowColumn(NamedTuple):
    """The belief and the running simulation."""

    key: I2  # (M, 3) kind; then x and y of a cell, y of a row, x of a column
    used: B1  # (M,) whether the slot holds an entry
    n: F2  # (M, 2) tails and heads of a row or column; for a cell 0, and 1 if it holds a reward
    pairs: I2  # (m, 4) for each empty cell seen: the slots of its row and column, u, v
    prior: F2  # (3, 2) prior counts of tails and heads by kind
    noted: I2  # (L, 2) the journal: a slot, and whether it held an entry
    noted_n: F2  # (L, 2) and its n
    fill: I1  # (2,) length of the journal; whether sweeps have begun


# The table -----------------------------------------------------------------------------------------------------------


@inlined
def place(m: RowColumn, kind: int, i: int, j: int) -> int:
    """The slot of an entry, or the free slot where it would go."""
    h = kind * 0x9E3779B1 + i * 0x85EBCA77 + j * 0xC2B2AE3D
    slot = (h ^ (h >> 15)) & (len(m.used) - 1)
    while m.used[slot] and (m.key[slot, 0] != kind or m.key[slot, 1] != i or m.key[slot, 2] != j):
        slot = (slot + 1) & (len(m.used) - 1)
    return slot


@inlined
def entry(m: RowColumn, kind: int, i: int, j: int) -> int:
    """The slot of an entry, which is saved in the journal first and made if there is none."""
    slot = place(m, kind, i, j)
    save(m, slot)
    if not m.used[slot]:
        m.used[slot] = True
        m.key[slot, 0], m.key[slot, 1], m.key[slot, 2] = kind, i, j
        m.n[slot, 0] = m.n[slot, 1] = 0.0
    return slot


@inlined
def save(m: RowColumn, slot: int) -> None:
    """Save an entry in the journal before it changes."""
    t = m.fill[0]
    m.noted[t, 0] = slot
    if slot != STEP:
        m.noted[t, 1] = m.used[slot]
        m.noted_n[t, 0], m.noted_n[t, 1] = m.n[slot, 0], m.n[slot, 1]
    m.fill[0] = t + 1


@inlined
def restore(m: RowColumn, stop: int) -> None:
    """Restore the entries of the last step if stop is STEP, otherwise those of the whole journal."""
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
def learn(m: RowColumn, seen: I2) -> None:
    """Enter the cells seen, (n, 3): x, y and what is known. Both coins of an empty cell start as tails."""
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
        m.fill[0] = 0  # data are never undone


# Coins ---------------------------------------------------------------------------------------------------------------


@inlined
def heads(m: RowColumn, slot: int) -> float:
    """Predictive probability of heads of a row's or column's next coin."""
    kind = m.key[slot, 0]
    up, down = m.prior[kind, 1] + m.n[slot, 1], m.prior[kind, 0] + m.n[slot, 0]
    return up / (up + down)


@inlined
def flip(m: RowColumn, slot: int, rng: Generator) -> int:
    """Draw the next coin of a row or column from its predictive and count it."""
    coin = 1 if uniform(rng) < heads(m, slot) else 0
    m.n[slot, coin] += 1.0
    return coin


@njit
def sweep(m: RowColumn, rng: Generator) -> None:
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
def sample(m: RowColumn, ys: I1, xs: I1, rng: Generator) -> tuple[F1, F1]:
    """p of rows ys and q of columns xs from one joint draw, after the first sweeps."""
    start(m, rng)
    return posterior_draw(m, ROW, ys, rng), posterior_draw(m, COLUMN, xs, rng)


@njit
def posterior_draw(m: RowColumn, kind: int, indices: I1, rng: Generator) -> F1:
    """Draw the parameters of rows or columns given all coins."""
    drawn = np.empty(len(indices))
    for i in range(len(indices)):
        slot = place(m, kind, indices[i], 0)
        tails_, heads_ = (m.n[slot, 0], m.n[slot, 1]) if m.used[slot] else (0.0, 0.0)
        drawn[i] = rng.beta(m.prior[kind, 1] + heads_, m.prior[kind, 0] + tails_)
    return drawn


@njit
def mean(m: RowColumn, ys: I1, xs: I1, sweeps: int, rng: Generator) -> tuple[F1, F1]:
    """Posterior means of p and q, averaged over `sweeps` sweeps after the first."""
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
def next_heads(m: RowColumn, kind: int, slot: int) -> float:
    """Mean of a parameter given all coins; the prior mean if the slot holds no entry."""
    return heads(m, slot) if m.used[slot] else m.prior[kind, 1] / (m.prior[kind, 0] + m.prior[kind, 1])


@njit
def start(m: RowColumn, rng: Generator) -> None:
    """Make the first sweeps."""
    for _ in range(FIRST):
        sweep(m, rng)


# For searches (`simulator.py`); a state is a cell as a number -----------------------------------------------------


@implements(begin, RowColumn)
@njit
def _begin(model: RowColumn, rng: Generator) -> None:
    if model.fill[1] == 0:
        model.fill[1] = 1
        start(model, rng)
    else:
        sweep(model, rng)


@implements(step, RowColumn)
@njit
def _step(model: RowColumn, s: int, a: int, rng: Generator) -> tuple[int, int, float, bool, int]:
    there = s + DX[a] * WIDTH + DY[a]
    x, y = there // WIDTH, there % WIDTH - HALF
    cell, k = place(model, CELL, x, y), 0
    save(model, STEP)
    if not model.used[cell]:
        entry(model, CELL, x, y)
        u = flip(model, entry(model, ROW, y, 0), rng)
        v = flip(model, entry(model, COLUMN, x, 0), rng)
        k = u * v
    elif model.n[cell, 1] == 1.0:
        save(model, cell)
        model.n[cell, 1] = 0.0
        k = 1
    return k, there, float(k), False, 0


@implements(forget, RowColumn)
@njit
def _forget(model: RowColumn, marks: I1, n: int) -> None:
    restore(model, 0)


@implements(rollout_action, RowColumn)
@njit
def _rollout_action(model: RowColumn, P: I1, s: int, a: int, epsilon: float, rng: Generator) -> int:
    """Move in any direction but back, as in the author's rollouts: the previous cell holds no reward any more."""
    if a < 0:
        return int(uniform(rng) * 4)
    return (a + 3 + int(uniform(rng) * 3)) % 4


# For searches that return to a history (`replay.py`) ----------------------------------------------------------------


@implements(replay, RowColumn)
@njit
def _replay(model: RowColumn, s: int, a: int, k: int) -> None:
    there = s + DX[a] * WIDTH + DY[a]
    x, y = there // WIDTH, there % WIDTH - HALF
    cell = place(model, CELL, x, y)
    save(model, STEP)
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
        save(model, cell)
        model.n[cell, 1] = 0.0


@implements(undo, RowColumn)
@njit
def _undo(model: RowColumn, s: int, a: int, k: int) -> None:
    restore(model, STEP)


@implements(likelihood, RowColumn)
@njit
def _likelihood(model: RowColumn, s: int, a: int, k: int) -> float:
    there = s + DX[a] * WIDTH + DY[a]
    x, y = there // WIDTH, there % WIDTH - HALF
    cell = place(model, CELL, x, y)
    p = model.n[cell, 1]
    if not model.used[cell]:
        row, column = place(model, ROW, y, 0), place(model, COLUMN, x, 0)
        p = next_heads(model, ROW, row) * next_heads(model, COLUMN, column)
    return p if k == 1 else 1.0 - p
