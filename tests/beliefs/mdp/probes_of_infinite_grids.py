"""The probe of the belief about an infinite grid."""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.random import Generator, default_rng

from bayesrl.beliefs.mdp.row_column_beta import Cell, RowColumnBeta
from bayesrl.checks import Floats
from bayesrl.core import Transition
from bayesrl.testing import probe_for

ROWS, COLUMNS, READ = range(1, 5), range(1, 101), range(1, 4)
"""The window that data come from, and the columns whose parameters are read."""
ENUMERATED = 5
"""Largest number of empty cells for which the expectation is a sum over their coins; otherwise it is a long chain."""


class Truth(NamedTuple):
    """Parameters, and the cells not yet seen; each cell is seen once."""

    p: Floats
    q: Floats
    cells: list[Cell]


class GridProbe:
    """Truths are parameters of rows and columns of a window; data are steps onto its cells, columns in READ first."""

    data = ENUMERATED
    remains = 0.9
    """A column is seen four times, so .58 of the error remains; 4.8 standard errors of 12 truths below .9."""

    def draw(self, belief: RowColumnBeta, rng: Generator) -> Truth:
        p, q = belief.sample_rows_columns(ROWS, COLUMNS, rng)
        near = [(x, y) for x in READ for y in ROWS]
        far = [(x, y) for x in COLUMNS if x not in READ for y in ROWS]
        rng.shuffle(near)
        return Truth(p, q, near + far)

    def datum(self, belief: RowColumnBeta, theta: Truth, rng: Generator) -> Transition:
        x, y = theta.cells.pop(0)
        there = rng.random() < theta.p[ROWS.index(y)] * theta.q[COLUMNS.index(x)]
        return Transition((x - 1, y), 1, float(there), (x, y))

    def read(self, belief: RowColumnBeta, theta: Truth) -> Floats:
        return np.concatenate([theta.p, theta.q[: len(READ)]])

    def readings(self, belief: RowColumnBeta, n: int, rng: Generator) -> Floats:
        """Of n truths, whose other columns need not be drawn."""
        return np.array([np.concatenate(belief.sample_rows_columns(ROWS, READ, rng)) for _ in range(n)])

    def expect(self, belief: RowColumnBeta) -> Floats:
        if sum(not there for *_, there in belief.seen) > ENUMERATED:
            return np.concatenate(belief.mean_rows_columns(ROWS, READ, default_rng(0), sweeps=4000))
        return enumerated(belief)


def enumerated(belief: RowColumnBeta) -> Floats:
    """Posterior means of the window's rows and of the columns in READ, summed over the coins of the empty cells."""
    total, mean = 0.0, np.zeros(len(ROWS) + len(READ))
    cases = [((1, 1),) if there else ((0, 0), (0, 1), (1, 0)) for *_, there in belief.seen]
    for coins in product(*cases):
        lines = {("row", y): belief.rows for y in ROWS} | {("column", x): belief.columns for x in READ}
        weight = 1.0
        for (x, y, _), (u, v) in zip(belief.seen, coins, strict=True):
            for line, prior, coin in ((("row", y), belief.rows, u), (("column", x), belief.columns, v)):
                a, b = lines.get(line, prior)
                weight *= (a if coin else b) / (a + b)
                lines[line] = (a + coin, b + 1 - coin)
        total += weight
        counts = np.array([lines["row", y] for y in ROWS] + [lines["column", x] for x in READ])
        mean += weight * counts[:, 0] / counts.sum(axis=1)
    return np.asarray(mean / total)


probe_for.register(RowColumnBeta, lambda belief: GridProbe())
