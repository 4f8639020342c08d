"""A maze whose states fall into clusters (after the marble maze of Asmuth et al. 2009; survey §4.6): walls, pits, goal.

A marble rolls on 6 by 6 cells. Actions are north, east, south, west: the intended direction with probability .8, one to
either side with .1 each; against a wall the marble stays. Each step costs .001. Rolling into a pit costs 1, rolling
into the goal pays 1, both instead of that, and the marble is put back to the start. `MAP`
has the start s, the goal g, pits o and walls.

Outcomes are relative: north, east, south, west, stay. What is learnt is how probable they are, and that depends on the
walls around a cell only. So the cells fall into as many clusters as there are different surroundings (`clusters`),
which is what BOSS with a Chinese restaurant process over states discovers (`crp-dynamics`). Every cell has the same
five outcomes; through the edge of the map they lead to the opposite side, with probability zero. Start, pits and goal
are so far from each other that no cell has two outcomes with the same next state.

The map is ours: we recall the cells, the slips and the rewards from the paper, and not its walls. Its results are
curves without numbers.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from bayesrl.checks import number
from bayesrl.models.mdp import TabularMDP
from bayesrl.models.outcomes import Outcomes
from bayesrl.parameters import DISCOUNT
from bayesrl.registry import register
from bayesrl.worlds.settings import Setting
from bayesrl.worlds.tabular import MDPWorld

SIZE, STEPS = 6, 1000
OPTIMUM = 59.1783639738822
"""Over 1000 steps."""
STEP, PIT, GOAL = -0.001, -1.0, 1.0
SLIP = 0.1
"""The probability of each side."""
MAP = (
    "+-+-+-+-+-+-+",
    "|s . .|. . .|",
    "+ + + + + + +",
    "|. . o|. . .|",
    "+ + + + +-+-+",
    "|. . . . . .|",
    "+-+-+ + + + +",
    "|. . . o . .|",
    "+ + + +-+-+ +",
    "|. o . . . .|",
    "+ + + + + + +",
    "|. . .|. g .|",
    "+-+-+-+-+-+-+",
)
"""Cells at odd rows and columns; what stands between two cells is a wall or a gap."""
ROW, COLUMN = (-1, 0, 1, 0), (0, 1, 0, -1)
"""North, east, south, west."""


@register(
    "cluster-maze",
    kind="world",
    survey="4.6",
    paper="asmuth09",
    evidence=(
        "tests/worlds/mdps/test_literature_worlds.py::test_declared_optimum",
        "tests/worlds/mdps/test_literature_worlds.py::test_cluster_maze_by_hand",
        "tests/worlds/mdps/test_literature_worlds.py::test_states_of_a_cluster_have_the_same_rows",
    ),
)
def cluster_maze(gamma: Annotated[float, DISCOUNT, "Discount."] = 0.95) -> MDPWorld:
    """A maze of 6 by 6 cells with walls and pits, in which cells with the same walls behave in the same way.

    Runs last 1000 steps; the optimum is 59.178. The usual prior knows the outcomes of each cell and not the
    walls; `crp-dynamics` also learns which cells are alike.

    Examples
    --------
    >>> world = cluster_maze()
    >>> world.n_states, len(set(clusters()))
    (32, 9)
    """
    cells = cells_of("s.")
    number_of = {cell: i for i, cell in enumerate(cells)}
    S, start = len(cells), number_of[cells_of("s")[0]]
    succ, paid = np.zeros((S, 4, 5), np.int32), np.full((S, 4, 5), STEP)
    prob = np.zeros((S, 4, 5))
    for s, (row, column) in enumerate(cells):
        succ[s, :, 4] = s
        for k in range(4):
            there = (row + ROW[k]) % SIZE, (column + COLUMN[k]) % SIZE
            succ[s, :, k] = number_of.get(there, start)
            if there not in number_of:
                paid[s, :, k] = GOAL if symbol(*there) == "g" else PIT
            to = 4 if walled(row, column, k) else k
            for a, p in ((k, 1.0 - 2 * SLIP), ((k + 1) % 4, SLIP), ((k + 3) % 4, SLIP)):
                prob[s, a, to] += p
    outcomes = Outcomes(
        succ=succ,
        reward=paid,
        group=np.arange(4 * S).reshape(S, 4),
        size=np.full(4 * S, 5, np.int32),
        otherwise=np.full((1, 1, 1), STEP),
        start=np.eye(S)[start],
        terminal=np.zeros(S, np.bool_),
    )
    mdp = TabularMDP(outcomes, prob.reshape(4 * S, 5), number("cluster-maze", "gamma", gamma, 0.0, 1.0))
    layout = np.full((1, SIZE, SIZE), -1, np.int32)
    layout[0][tuple(np.array(cells).T)] = np.arange(S)
    setting = Setting("structured:1", steps=STEPS, figures=("Marble maze",), optimum=OPTIMUM)
    return MDPWorld("cluster-maze", mdp, setting, ("north", "east", "south", "west"), layout)


def clusters() -> tuple[int, ...]:
    """The walls around each state: 1 for north, 2 for east, 4 for south, 8 for west."""
    return tuple(sum(walled(*cell, k) << k for k in range(4)) for cell in cells_of("s."))


def cells_of(kinds: str) -> list[tuple[int, int]]:
    """The cells (row, column) that are marked by one of these symbols, row by row."""
    return [(r, c) for r in range(SIZE) for c in range(SIZE) if symbol(r, c) in kinds]


def symbol(row: int, column: int) -> str:
    """The symbol of a cell on the map."""
    return MAP[2 * row + 1][2 * column + 1]


def walled(row: int, column: int, k: int) -> bool:
    """Whether there is a wall between a cell and its neighbour in direction k."""
    return MAP[2 * row + 1 + ROW[k]][2 * column + 1 + COLUMN[k]] != " "
