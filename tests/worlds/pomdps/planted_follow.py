"""Planted bugs of bayesrl.worlds.pomdps.follow."""

MODULE = "bayesrl.worlds.pomdps.follow"
PLANTED = {
    "the robot moves the other way": (
        "dx + px - rx, dy + py - ry",
        "dx + px + rx, dy + py + ry",
        ["tests/worlds/pomdps/test_pomdp_worlds.py::test_follow_by_hand"],
    ),
    "counts follow the next state": (
        "group[s] = person",
        "group[s] = 0",
        ["tests/worlds/pomdps/test_pomdp_worlds.py::test_follow_by_hand"],
    ),
}
