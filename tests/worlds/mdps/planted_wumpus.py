"""Planted bugs of bayesrl.worlds.mdps.wumpus."""

MODULE = "bayesrl.worlds.mdps.wumpus"
PLANTED = {
    "the arrow turns corners": (
        "flies = [(x + i * DX[hunter.facing], y + i * DY[hunter.facing])",
        "flies = [(x + i * DX[hunter.facing], y + i)",
        ["tests/worlds/mdps/test_literature_worlds.py::test_wumpus_by_hand"],
    ),
    "a dead wumpus kills": (
        "(there == cave.wumpus and hunter.wumpus)",
        "(there == cave.wumpus)",
        ["tests/worlds/mdps/test_literature_worlds.py::test_wumpus_by_hand"],
    ),
    "the arrow is never used up": (
        "hunter._replace(arrow=False, wumpus",
        "hunter._replace(wumpus",
        ["tests/worlds/mdps/test_literature_worlds.py::test_wumpus_by_hand"],
    ),
    "gold is paid without gold": (
        "(GOLD if hunter.gold else 0.0)",
        "GOLD",
        ["tests/worlds/mdps/test_literature_worlds.py::test_wumpus_by_hand"],
    ),
    "left is right": (
        "(1 if action == LEFT else 3)",
        "(1 if action == RIGHT else 3)",
        ["tests/worlds/mdps/test_literature_worlds.py::test_wumpus_by_hand"],
    ),
    "gold may lie in a pit": (
        "pits - {wumpus, gold}",
        "pits - {wumpus}",
        ["tests/worlds/mdps/test_literature_worlds.py::test_drawn_caves_have_the_law_of_the_book"],
    ),
}
