"""Planted bugs of bayesrl.worlds.pomdps.hallway."""

MODULE = "bayesrl.worlds.pomdps.hallway"
PLANTED = {
    "left and right exchanged": (
        "EFFECTS = ((0, 0), (3, 3), (1, 1), (2, 2), (2, 0))",
        "EFFECTS = ((0, 0), (3, 1), (1, 3), (2, 2), (2, 0))",
        ["tests/worlds/pomdps/test_pomdp_worlds.py::test_hallway_follows_the_rule"],
    ),
    "being in the goal pays": (
        "R[: 4 * GOAL, :, 4 * GOAL :] = 1.0",
        "R[4 * GOAL :] = 1.0",
        ["tests/worlds/pomdps/test_pomdp_worlds.py::test_hallway_follows_the_rule"],
    ),
}
