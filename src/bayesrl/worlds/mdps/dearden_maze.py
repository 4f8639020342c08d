"""Dearden's maze, in the version of Guez, Silver and Dayan 2012 (Dearden et al. 1998; survey §4.5): flags to a goal.

    S X $ . X . G
    . X . . X . .
    . . . . . . .        S start, G goal, $ flag, X wall
    X X . . . X X
    . . . . . . $
    $ . . . . . X

33 free cells times 8 sets of flags make 264 states. State 8 c + f is the cell number c, counted column by column, with
the flags f held: 1 for the bottom left one, 2 for the top one, 4 for the right one. Entering the cell of a flag picks
it up. Actions are up, right, down, left: the intended move with probability .9, a move to either side with .05 each; a
move into a wall stays. Any action in the goal pays the number of flags held and leads to the start without flags.
"""

from __future__ import annotations

import numpy as np

from bayesrl.models.mdp import TabularMDP
from bayesrl.registry import register
from bayesrl.worlds.mdps.cells import DOWN, LEFT, RIGHT, UP, walk
from bayesrl.worlds.settings import Setting
from bayesrl.worlds.tabular import MDPWorld

ROWS = ("SX$.X.G", ".X..X..", ".......", "XX...XX", "......$", "$.....X")
FLAGS = ((0, 5), (2, 0), (6, 4))
FIGURES = ("dearden_maze_guez", "Dearden's maze", "maze")
SETTING = Setting("flat:1/264", steps=20000, figures=FIGURES, optimum=1825.9572163694206)


@register(
    "dearden-maze",
    kind="world",
    survey="4.5",
    paper="dearden98bayesian",
    evidence=(
        "tests/worlds/mdps/test_worlds.py::test_declared_optimum",
        "tests/worlds/mdps/test_worlds.py::test_maze_by_hand",
        "tests/worlds/mdps/test_worlds.py::test_random_policy_agrees_with_peer_code",
    ),
)
def dearden_maze(gamma: float = 0.95) -> MDPWorld:
    """A maze with three flags to be carried to the goal, 264 states.

    Runs last 20000 steps; the optimum is 1825.96. The policy that is optimal at discount .95 skips flags and earns only
    1269.6 in total, so compare undiscounted scores with care. Guez et al. use a flat prior of 1/264 and a sparse one,
    which does much better.
    """
    cells = [(x, y) for x in range(7) for y in range(6) if ROWS[y][x] != "X"]
    n, goal = len(cells), cells.index((6, 0))
    P = np.zeros((n, 8, 4, n, 8))
    moved = walk(cells, (UP, RIGHT, DOWN, LEFT), slip=0.1)
    found = [sum(1 << i for i, flag in enumerate(FLAGS) if flag == cell) for cell in cells]
    for y in range(n):
        for f in range(8):
            P[:, f, :, y, f | found[y]] += moved[:, :, y]
    P[goal] = 0.0
    P[goal, :, :, 0, 0] = 1.0
    R = np.zeros((n, 8, 4))
    R[goal] = np.array([f.bit_count() for f in range(8)])[:, None]
    layout = np.full((8, 6, 7), -1, np.int32)
    for c, (x, y) in enumerate(cells):
        layout[:, y, x] = 8 * c + np.arange(8)
    mdp = TabularMDP.from_dense(P.reshape(8 * n, 4, 8 * n), R.reshape(8 * n, 4), gamma)
    return MDPWorld("dearden-maze", mdp, SETTING, ("up", "right", "down", "left"), layout)
