"""Planted bugs of bayesrl.worlds.pomdps.rock_sample."""

MODULE = "bayesrl.worlds.pomdps.rock_sample"
PLANTED = {
    "a sampled rock stays good": (
        "s - (is_good << np.maximum(rock, 0)), end)",
        "s, end)",
        ["tests/worlds/pomdps/test_pomdp_worlds.py::test_rock_sample_follows_the_rule"],
    ),
    "a sample without a rock goes on": (
        "s - (is_good << np.maximum(rock, 0)), end)",
        "s - (is_good << np.maximum(rock, 0)), s)",
        ["tests/worlds/pomdps/test_pomdp_worlds.py::test_rock_sample_follows_the_rule"],
    ),
    "every edge is the east edge": (
        "[FORBIDDEN, LEFT, FORBIDDEN, FORBIDDEN]",
        "LEFT",
        ["tests/worlds/pomdps/test_pomdp_worlds.py::test_rock_sample_follows_the_rule"],
    ),
}
