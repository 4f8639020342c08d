"""Planted bugs of bayesrl.worlds.pomdps.sysadmin."""

MODULE = "bayesrl.worlds.pomdps.sysadmin"
PLANTED = {
    "neighbours that work do harm": (
        "failed = np.pad(1 - works,",
        "failed = np.pad(works,",
        [
            "tests/worlds/pomdps/test_pomdp_worlds.py::test_sysadmin_by_hand",
            "tests/worlds/pomdps/test_pomdp_worlds.py::test_values_of_seen_states",
        ],
    ),
    "a reboot is free": (
        " - (np.arange(A) >= n)[:, None]",
        "",
        ["tests/worlds/pomdps/test_pomdp_worlds.py::test_sysadmin_by_hand"],
    ),
}
