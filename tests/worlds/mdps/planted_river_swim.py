"""Planted bugs of bayesrl.worlds.mdps.river_swim."""

MODULE = "bayesrl.worlds.mdps.river_swim"
PLANTED = {
    "the last state is a state of the middle": (
        "river.last if s == LENGTH - 1 else river.middle",
        "river.middle",
        ["tests/worlds/mdps/test_literature_worlds.py::test_river_swim_by_hand"],
    ),
    "the large reward downstream": (
        "R[0, left], R[-1, right] = river.small, river.large",
        "R[0, left], R[-1, right] = river.large, river.small",
        ["tests/worlds/mdps/test_literature_worlds.py::test_river_swim_by_hand"],
    ),
    "swimming left is against the current": (
        "P[s, left, max(s - 1, 0)] = 1.0",
        "P[s, left, max(s - 1, 0)] += 0.9\n        P[s, left, s] += 0.1",
        ["tests/worlds/mdps/test_literature_worlds.py::test_river_swim_by_hand"],
    ),
    "every river starts in the first place": (
        "start[: len(river.start)] = river.start",
        "start[0] = 1.0",
        [
            "tests/worlds/mdps/test_literature_worlds.py::test_river_swim_by_hand",
            "tests/worlds/mdps/test_literature_worlds.py::test_declared_optimum",
        ],
    ),
}
