"""The deep sea (Osband, Van Roy, Russo and Wen 2019; survey §4.4): one path of many leads to the treasure.

A diver begins in the top left cell of a grid of N by N cells. Each step goes down one row and one column to the left
(action 0, at the edge straight down) or to the right (action 1). A step to the right costs .01 / N. In the last row an
action ends the episode, after N steps; right in its last column finds the treasure, which pays 1. So the only good
policy goes right N times and earns .99. Random actions find it with probability 2^-N, and every wrong step is the
cheaper one.

In the authors' benchmark which action means "right" is drawn for each cell; with a `seed` it is here. Cells that cannot
be reached (those right of the diagonal) are left out: N (N + 1) / 2 cells and the end.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
from numpy.random import default_rng

from bayesrl.checks import integer, number
from bayesrl.models.mdp import TabularMDP
from bayesrl.parameters import DISCOUNT, AtLeast
from bayesrl.registry import register
from bayesrl.worlds.settings import Setting
from bayesrl.worlds.tabular import MDPWorld

COST, TREASURE = 0.01, 1.0
STEPS, MOST = 1000, 60


@register(
    "deep-sea",
    kind="world",
    survey="4.4",
    paper="osband19",
    evidence=(
        "tests/worlds/mdps/test_literature_worlds.py::test_declared_optimum",
        "tests/worlds/mdps/test_literature_worlds.py::test_deep_sea_by_hand",
        "tests/worlds/mdps/test_literature_worlds.py::test_samples_match_probabilities",
    ),
)
def deep_sea(
    size: Annotated[int, AtLeast(1), "Rows and columns, N, at most 60."] = 10,
    gamma: Annotated[float, DISCOUNT, "Discount; 1 suits episodes that end."] = 0.99,
    seed: Annotated[
        int | None, AtLeast(0), "Draws for each cell which action goes right; None: action 1 everywhere."
    ] = None,
) -> MDPWorld:
    """A dive of N steps to a treasure that only one of 2^N paths finds, and each step towards it costs a little.

    The best policy earns .99 in each episode of N steps; the optimum is that of one episode.

    Examples
    --------
    >>> world = deep_sea(size=3)
    >>> world.n_states, world.layout.tolist()
    (7, [[[0, -1, -1], [1, 2, -1], [3, 4, 5]]])
    """
    n, discount = integer("deep-sea", "size", size, 1, MOST), number("deep-sea", "gamma", gamma, 0.0, 1.0)
    layout = np.full((1, n, n), -1, np.int32)
    rows, columns = np.tril_indices(n)
    S = len(rows) + 1  # the last one is the end
    layout[0, rows, columns] = np.arange(S - 1)
    right = np.ones(S - 1, np.int64)
    if seed is not None:
        right = default_rng(integer("deep-sea", "seed", seed, 0, any_length=True)).integers(2, size=S - 1)
    P, R = np.zeros((S, 2, S)), np.zeros((S, 2))
    P[-1, :, -1] = 1.0
    for s, (row, column) in enumerate(zip(rows.tolist(), columns.tolist(), strict=True)):
        for way, there in ((1 - right[s], max(column - 1, 0)), (right[s], column + 1)):
            P[s, way, layout[0, row + 1, there] if row + 1 < n else S - 1] = 1.0
        R[s, right[s]] = -COST / n + (TREASURE if row == column == n - 1 else 0.0)
    mdp = TabularMDP.from_dense(P, R, discount, terminal=(S - 1,))
    names = ("left", "right") if seed is None else ()
    return MDPWorld(
        "deep-sea", mdp, Setting("flat:1", steps=STEPS, figures=("Deep Sea",), optimum=TREASURE - COST), names, layout
    )
