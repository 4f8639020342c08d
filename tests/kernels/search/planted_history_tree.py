"""Planted bugs of bayesrl.kernels.search.history_tree."""

MODULE = "bayesrl.kernels.search.history_tree"
PLANTED = {
    "the kept tree is that of another outcome": (
        "code * tree.N.shape[1] + action",
        "code + action * tree.N.shape[1]",
        ["tests/bamdp/search/test_bamcp.py::test_the_kept_tree_is_the_part_below_what_happened"],
    ),
    "a kept tree counts what was masked": (
        "legal = tree.Q[root] > -np.inf",
        "legal = tree.Q[root] < np.inf",
        ["tests/worlds/pomdps/test_rock_sample.py::test_a_kept_tree_forgets_what_is_not_legal"],
    ),
    "BAMCP forgets the returns when its tree grows": (
        "np.zeros(4) if kept is None else kept.spread.copy()",
        "np.zeros(4)",
        [
            "tests/bamdp/search/test_bamcp.py::test_the_spread_is_that_of_the_returns",
            "tests/bamdp/search/test_bamcp.py::test_the_kept_tree_keeps_the_spread_of_returns",
        ],
    ),
    "a kept tree has all the old squares": (
        "tree.spread[SQUARES] * count / tree.total[0]",
        "tree.spread[SQUARES]",
        ["tests/bamdp/search/test_bamcp.py::test_the_kept_tree_keeps_the_spread_of_returns"],
    ),
    "a kept tree has the old mean": (
        "tree.spread + (mean - tree.spread[MEAN])",
        "tree.spread + 0.0",
        ["tests/bamdp/search/test_bamcp.py::test_the_kept_tree_keeps_the_spread_of_returns"],
    ),
}
