"""Planted bugs of bayesrl.worlds.pomdps.load_unload."""

MODULE = "bayesrl.worlds.pomdps.load_unload"
PLANTED = {
    "a load is lost on the way": (
        "there == n - 1 or (loaded and there > 0)",
        "there == n - 1",
        ["tests/worlds/pomdps/test_pomdp_worlds.py::test_load_unload_by_hand"],
    ),
}
