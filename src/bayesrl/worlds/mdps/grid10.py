"""Grid10 (Guez, Silver and Dayan 2012; survey §4.5): Grid5 with ten cells to a side."""

from __future__ import annotations

from bayesrl.registry import register
from bayesrl.worlds.mdps.grid5 import grid
from bayesrl.worlds.tabular import MDPWorld


@register(
    "grid10",
    kind="world",
    survey="4.5",
    paper="guez12",
    evidence=(
        "tests/worlds/mdps/test_worlds.py::test_declared_optimum",
        "tests/worlds/mdps/test_worlds.py::test_grid_by_hand",
        "tests/worlds/mdps/test_worlds.py::test_random_policy_agrees_with_peer_code",
    ),
)
def grid10(gamma: float = 0.95) -> MDPWorld:
    """A slippery 10 by 10 grid that pays 1 for acting in the far corner and then starts again.

    State 10 x + y is the cell (x, y); the rest is as in grid5. Runs last 2000 steps; the optimum is 86.90. A random
    walk earns about 3.
    """
    return grid(10, gamma, "grid10", 2000, 86.89648360333388, ("grid10", "Grid10"))
