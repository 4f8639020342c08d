"""The simulator of the infinite grid beside dicts of coins in plain Python, with the same random numbers."""

from copy import deepcopy

import numpy as np
import pytest
from numpy.random import default_rng

from bayesrl.beliefs.mdp.row_column_beta import RowColumnBeta
from bayesrl.kernels.simulators import infinite_grid_simulator as row_column
from bayesrl.kernels.simulators.reversible_step import likelihood, replay, undo
from bayesrl.kernels.simulators.simulator import begin, forget, rollout_action, step

ROWS, COLUMNS = (2.3, 1.4), (0.6, 1.1)
"""Prior counts of heads and tails."""
SEEN = ((-2, 1, 0), (0, 0, 2), (0, 1, 0), (1, 0, 1), (1, 1, 0), (3, -1, 0), (3, 1, 2))
"""x, y and what is known: 0 empty, 1 its reward was taken, 2 it holds one."""
MOVES = ((0, 1), (1, 0), (0, -1), (-1, 0))


class Coins:
    """Tails and heads of every row and column, cells that were seen, and the coins of those seen to be empty."""

    def __init__(self):
        self.row, self.column, self.cell, self.pairs, self.path, self.begun = {}, {}, {}, [], [], False
        for x, y, what in SEEN:
            self.cell[x, y] = what == 2
            coin = 0 if what == 0 else 1
            self.row.setdefault(y, [0.0, 0.0])[coin] += 1.0
            self.column.setdefault(x, [0.0, 0.0])[coin] += 1.0
            if what == 0:
                self.pairs.append([x, y, 0, 0])

    def p(self, y):
        tails, heads = self.row.get(y, [0.0, 0.0])
        return (ROWS[0] + heads) / (sum(ROWS) + heads + tails)

    def q(self, x):
        tails, heads = self.column.get(x, [0.0, 0.0])
        return (COLUMNS[0] + heads) / (sum(COLUMNS) + heads + tails)

    def sweep(self, rng):
        for pair in self.pairs:
            x, y, u, v = pair
            self.row[y][u] -= 1.0
            self.column[x][v] -= 1.0
            p, q = self.p(y), self.q(x)
            weights = np.cumsum([p * (1 - q), (1 - p) * q, (1 - p) * (1 - q)])
            case = int((rng.random() * weights[-1] >= weights[:2]).sum())
            pair[2:] = u, v = [(1, 0), (0, 1), (0, 0)][case]
            self.row[y][u] += 1.0
            self.column[x][v] += 1.0

    def begin(self, rng):
        for _ in range(1 if self.begun else 50):
            self.sweep(rng)
        self.begun = True

    def enter(self, x, y):
        self.path.append(deepcopy((self.row, self.column, self.cell)))
        new = (x, y) not in self.cell
        there = self.cell.get((x, y), False)
        self.cell[x, y] = False
        if new:
            self.row.setdefault(y, [0.0, 0.0])
            self.column.setdefault(x, [0.0, 0.0])
        return new, there

    def step(self, x, y, rng):
        new, there = self.enter(x, y)
        if not new:
            return int(there)
        u, v = int(rng.random() < self.p(y)), int(rng.random() < self.q(x))
        self.row[y][u] += 1.0
        self.column[x][v] += 1.0
        return u * v

    def replay(self, x, y, k):
        """Coins of a cell told to be empty are counted by their expectations."""
        if self.enter(x, y)[0]:
            p, q = self.p(y), self.q(x)
            u = 1.0 if k else p * (1 - q) / (1 - p * q)
            v = 1.0 if k else (1 - p) * q / (1 - p * q)
            for coin, heads in ((self.row[y], u), (self.column[x], v)):
                coin[0] += 1.0 - heads
                coin[1] += heads

    def undo(self):
        self.row, self.column, self.cell = self.path.pop()

    def chance(self, x, y):
        return float(self.cell[x, y]) if (x, y) in self.cell else self.p(y) * self.q(x)


def belief():
    made = RowColumnBeta(ROWS, COLUMNS)
    for i, cell in enumerate(SEEN):
        made = made._with(i, i, cell)
    return made


PLACES = [(x, y) for x in range(-2, 4) for y in range(-1, 3)]


def check_chances(model, coins, known):
    """All cells of a window, those that were seen included, from below and from the left."""
    for x, y in PLACES:
        expected = coins.chance(x, y)
        for k in (0, 1):
            found = likelihood(model, known.encode((x, y - 1)), 0, k)
            assert found == pytest.approx(expected if k else 1.0 - expected, rel=1e-12)
        assert likelihood(model, known.encode((x - 1, y)), 1, 1) == pytest.approx(expected, rel=1e-12)


def test_simulations_of_the_grid_are_those_of_dicts():
    """Walks that meet known cells, old ones and new ones; some steps are undone, walks are forgotten."""
    known, coins = belief(), Coins()
    model, mine, theirs, walk = known.simulate(20), default_rng(1), default_rng(1), default_rng(2)
    paid = 0
    for i in range(12):
        begin(model, mine)
        coins.begin(theirs)
        check_chances(model, coins, known)
        assert model.pairs[:, 2:].tolist() == [pair[2:] for pair in coins.pairs]
        x, y, start = int(walk.integers(-1, 3)), int(walk.integers(-1, 2)), len(coins.path)
        for t in range(16):
            a = int(walk.integers(4))
            there = x + MOVES[a][0], y + MOVES[a][1]
            k, s, r, done, mark = step(model, known.encode((x, y)), a, mine)
            assert (k, s) == (coins.step(*there, theirs), known.encode(there))
            assert (r, bool(done), mark) == (float(k), False, 0)
            paid += k
            if t % 5 == 4:
                undo(model, known.encode((x, y)), a, k)
                coins.undo()
            else:
                x, y = there
        check_chances(model, coins, known)
        if i % 2:
            forget(model, np.zeros(16, np.int64), 16)
            coins.row, coins.column, coins.cell = coins.path[start]
            del coins.path[start:]
        else:
            while len(coins.path) > start:
                undo(model, 0, 0, 0)
                coins.undo()
        check_chances(model, coins, known)
        assert model.fill[0] == 0
    assert paid > 10
    assert mine.random() == theirs.random()


def test_histories_of_the_grid_are_those_of_dicts():
    known, coins = belief(), Coins()
    model = known.simulate(8)
    for (x, y), a, k in (
        ((1, 2), 1, 0),
        ((2, 2), 1, 1),
        ((-1, 0), 1, 1),
        ((3, 2), 2, 1),
        ((2, -1), 0, 0),
        ((1, 2), 1, 0),
    ):
        replay(model, known.encode((x, y)), a, k)
        coins.replay(x + MOVES[a][0], y + MOVES[a][1], k)
        check_chances(model, coins, known)
    while coins.path:
        undo(model, 0, 0, 0)
        coins.undo()
        check_chances(model, coins, known)


def test_rows_and_columns_are_drawn_and_averaged_after_the_first_sweeps():
    """The means over five sweeps, and one joint draw; rows and columns that were not seen have their prior."""
    known, ys, xs = belief(), (1, 0, -1, 7), (3, -2, 5)
    mine, theirs, coins = default_rng(4), default_rng(4), Coins()
    coins.begin(theirs)
    p, q = np.zeros(4), np.zeros(3)
    for _ in range(5):
        coins.sweep(theirs)
        p += [coins.p(y) / 5.0 for y in ys]
        q += [coins.q(x) / 5.0 for x in xs]
    found = known.mean_rows_columns(ys, xs, mine, sweeps=5)
    np.testing.assert_allclose(found[0], p, rtol=1e-12)
    np.testing.assert_allclose(found[1], q, rtol=1e-12)
    coins = Coins()
    coins.begin(theirs)
    expected = []
    for place, counts, prior in [(y, coins.row, ROWS) for y in ys] + [(x, coins.column, COLUMNS) for x in xs]:
        tails, heads = counts.get(place, [0.0, 0.0])
        expected.append(theirs.beta(prior[0] + heads, prior[1] + tails))
    np.testing.assert_allclose(np.concatenate(known.sample_rows_columns(ys, xs, mine)), expected, rtol=1e-9)
    assert mine.random() == theirs.random()


def test_rollouts_of_the_grid():
    """Any way at first, then one of three by one number: never back."""
    model, mine, theirs = belief().simulate(1), default_rng(5), default_rng(5)
    for i in range(80):
        a = i % 5 - 1
        u = theirs.random()
        ways = [0, 1, 2, 3] if a < 0 else [(a + 3) % 4, a, (a + 1) % 4]
        found = rollout_action(model, np.zeros((0, 4)), 0, a, 0.5, mine)
        assert found == ways[int(u * len(ways))]


def test_the_table_holds_what_collides(uncompiled):
    """Entries are found again in a table that is nearly full, and their kinds are told apart."""
    uncompiled(row_column)
    model = belief().simulate(0)
    room = len(model.used)
    small = model._replace(
        key=np.zeros((32, 3), np.int64), used=np.zeros(32, bool), n=np.ones((32, 2)), noted=np.zeros((64, 2), np.int64),
        noted_n=np.zeros((64, 2)), fill=np.zeros(2, np.int64),
    )  # fmt: skip
    keys = [(kind, i, j) for kind in range(3) for i in (0, 1, -7) for j in (0, 1, 5)]
    slots = {}
    for key in keys:
        slots[key] = row_column.entry(small, *key)
        assert small.n[slots[key]].tolist() == [0.0, 0.0]
        small.n[slots[key]] = key[1:]
    assert len(set(slots.values())) == len(keys) == small.used.sum()
    for key in keys:
        assert row_column.place(small, *key) == slots[key] == row_column.entry(small, *key)
        assert small.key[slots[key]].tolist() == list(key)
        assert small.n[slots[key]].tolist() == list(map(float, key[1:]))
    assert room & (room - 1) == 0
    row_column.restore(small, 0)
    assert not small.used.any()
