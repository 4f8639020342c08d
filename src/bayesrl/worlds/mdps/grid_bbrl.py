"""BBRL's grid (Castronovo et al. 2015): a 5 by 5 grid whose moves succeed with unknown probabilities.

The state is 5 row + column; the start is the top left cell. A move (left, right, up, down) succeeds or stays, with a
probability drawn uniformly for each (s, a); a move into a wall stays. A move into the bottom right corner pays 10 and
leads to the start instead, so the corner is never visited, although it is a state of the table.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bayesrl.registry import register
from bayesrl.worlds.mdps._dirichlet_family import BBRL, DirichletFamily

MOVES = ((0, -1), (0, 1), (-1, 0), (1, 0))
"""(row, column) steps: left, right, up, down."""


@register(
    "grid-bbrl",
    kind="family",
    survey="4.1",
    paper="castronovo15",
    evidence=(
        "tests/worlds/mdps/test_families.py::test_counts_and_rewards",
        "tests/worlds/mdps/test_families.py::test_draws_match_the_dirichlet",
    ),
)
def grid_bbrl(gamma: float = 0.95) -> DirichletFamily:
    """Random 5 by 5 grids: every move succeeds with its own probability, and the far corner pays 10.

    500 worlds, 250 steps, discounted return.
    """
    counts, rewards = np.zeros((25, 4, 25)), np.zeros((25, 4, 25))
    for s, (a, (down, right)) in ((s, move) for s in range(25) for move in enumerate(MOVES)):
        row, column = s // 5 + down, s % 5 + right
        counts[s, a, s] = 1.0
        if (row, column) == (4, 4):
            counts[s, a, 0], rewards[s, a, 0] = 1.0, 10.0
        elif 0 <= row < 5 and 0 <= column < 5:
            counts[s, a, 5 * row + column] = 1.0
    setting = replace(BBRL, figures=("Grid (accurate prior)", "Grid (inaccurate prior)"))
    return DirichletFamily("grid-bbrl", counts, rewards, gamma, setting, ("left", "right", "up", "down"))
