"""Grid5 (Guez, Silver and Dayan 2012; survey §4.5): find the far corner of a slippery 5 by 5 grid.

State 5 x + y is the cell (x, y); the start is (0, 0). Actions are down, right, up, left (y grows downwards): the
intended move with probability .8, a move to either side with .1 each; a move into a wall stays. Any action in the far
corner pays 1 and leads to the start.
"""

from __future__ import annotations

import numpy as np

from bayesrl.models.mdp import TabularMDP
from bayesrl.registry import register
from bayesrl.worlds.mdps.cells import DOWN, LEFT, RIGHT, UP, walk
from bayesrl.worlds.settings import Setting
from bayesrl.worlds.tabular import MDPWorld


@register(
    "grid5",
    kind="world",
    survey="4.5",
    paper="guez12",
    evidence=(
        "tests/worlds/mdps/test_worlds.py::test_declared_optimum",
        "tests/worlds/mdps/test_worlds.py::test_grid_by_hand",
        "tests/worlds/mdps/test_worlds.py::test_samples_match_probabilities",
    ),
)
def grid5(gamma: float = 0.95) -> MDPWorld:
    """A slippery 5 by 5 grid that pays 1 for acting in the far corner and then starts again.

    Runs last 1000 steps; the optimum is 92.10, and the policy that is optimal at discount .95 earns 92.095.
    Guez et al. use a flat prior of 1/25 and a sparse one, which does much better.
    """
    return grid(5, gamma, "grid5", 1000, 92.09907689284721, ("grid5", "Grid5"))


def grid(length: int, gamma: float, name: str, steps: int, optimum: float, figures: tuple[str, ...]) -> MDPWorld:
    """The same grid of any size."""
    S = length**2
    P = walk([(x, y) for x in range(length) for y in range(length)], (DOWN, RIGHT, UP, LEFT), slip=0.2)
    P[-1] = np.eye(S)[0]
    R = np.zeros((S, 4))
    R[-1] = 1.0
    layout = np.arange(S, dtype=np.int32).reshape(length, length).T[None]
    mdp = TabularMDP.from_dense(P, R, gamma)
    setting = Setting(f"flat:1/{S}", steps=steps, figures=figures, optimum=optimum)
    return MDPWorld(name, mdp, setting, ("down", "right", "up", "left"), layout)
