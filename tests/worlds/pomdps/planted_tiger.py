"""Planted bugs of bayesrl.worlds.pomdps.tiger."""

MODULE = "bayesrl.worlds.pomdps.tiger"
PLANTED = {
    "listening pays": (
        "[[-1.0, paid, 10.0], [-1.0, 10.0, paid]]",
        "[[1.0, paid, 10.0], [1.0, 10.0, paid]]",
        [
            "tests/worlds/pomdps/test_pomdp_worlds.py::test_tiger_by_hand",
            "tests/worlds/pomdps/test_pomdp_worlds.py::test_tiger_values",
        ],
    ),
    "the state is where the treasure is": (
        "[[-1.0, paid, 10.0], [-1.0, 10.0, paid]]",
        "[[-1.0, 10.0, paid], [-1.0, paid, 10.0]]",
        ["tests/worlds/pomdps/test_pomdp_worlds.py::test_tiger_by_hand"],
    ),
    "the tie is of left and left": (
        "    observation[1, LISTEN] = 1, 0",
        "    observation[1, LISTEN] = 0, 1",
        ["tests/worlds/pomdps/test_pomdp_worlds.py::test_tigers_differ_in_what_is_tied"],
    ),
}
