"""Planted bugs of bayesrl.bapomdp._history_search."""

MODULE = "bayesrl.bapomdp._history_search"
PLANTED = {
    "the tree of another observation is reused": (
        "subtree(memory.tree, last.next_observation, last.action)",
        "subtree(memory.tree, last.next_observation, 1)",
        ["tests/bapomdp/test_pomcp.py::test_reuse_keeps_what_happened"],
    ),
    "the tree is reused after the end": (
        "last is None or last.ends_episode",
        "last is None",
        ["tests/bapomdp/test_pomcp.py::test_reuse_keeps_what_happened"],
    ),
    "the range of returns for that of a reward": (
        "c = high - low if",
        "c = (high - low) / (1.0 - belief.gamma) if",
        ["tests/bapomdp/test_pomcp.py::test_the_usual_constant_is_the_range_of_one_reward"],
    ),
    "rollouts are uniform all the same": (
        "1.0 if preferred is None else 0.0",
        "1.0",
        ["tests/bapomdp/test_pomcp.py::test_one_simulation_by_hand"],
    ),
    "leaf values of other probabilities": (
        "one.prob is two.prob and one.gamma",
        "one.gamma",
        ["tests/test_caches.py::test_leaf_values_are_kept_for_one_table_and_one_discount"],
    ),
}
