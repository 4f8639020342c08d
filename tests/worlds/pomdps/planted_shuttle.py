"""Planted bugs of bayesrl.worlds.pomdps.shuttle."""

MODULE = "bayesrl.worlds.pomdps.shuttle"
PLANTED = {
    "backing into the station costs": (
        "R[3, 2, 0] = 10.0",
        "R[3, 2, 0] = -10.0",
        ["tests/worlds/pomdps/test_pomdp_worlds.py::test_shuttle_by_hand"],
    ),
}
