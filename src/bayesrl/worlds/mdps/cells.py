"""Moves on a grid with a slip, shared by the grids and the maze."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bayesrl.checks import Floats

Cell = tuple[int, int]
DOWN, RIGHT, UP, LEFT = (0, 1), (1, 0), (0, -1), (-1, 0)
"""Steps (dx, dy); y grows downwards."""


def walk(cells: Sequence[Cell], moves: Sequence[Cell], slip: float) -> Floats:
    """P[c, a, c']: the intended move, or with probability slip / 2 each of its neighbours in the cyclic list of moves.

    A move out of the grid stays in the cell.
    """
    index = {cell: i for i, cell in enumerate(cells)}
    n = len(moves)
    P = np.zeros((len(cells), n, len(cells)))
    for i, (x, y) in enumerate(cells):
        reached = [index.get((x + dx, y + dy), i) for dx, dy in moves]
        for a in range(n):
            P[i, a, reached[a]] += 1.0 - slip
            P[i, a, reached[a - 1]] += slip / 2
            P[i, a, reached[(a + 1) % n]] += slip / 2
    return P
