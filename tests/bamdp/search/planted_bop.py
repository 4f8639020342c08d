"""Planted bugs of bayesrl.bamdp.search.bop."""

MODULE = "bayesrl.bamdp.search.bop"
PLANTED = {
    "BOP expands the most probable leaf, however deep": (
        "leaf = max(leaf, leaves.gamma * p * w)",
        "leaf = max(leaf, p * w)",
        ["tests/bamdp/search/test_enumerating_search.py::test_bop_equals_a_naive_transcription[tied-None]"],
    ),
    "BOP's tree is pessimistic": (
        "if better(upper, t.value[h, 1]):",
        "if lower >= t.value[h, 0]:",
        ["tests/bamdp/search/test_enumerating_search.py::test_bop_equals_a_naive_transcription[tied-None]"],
    ),
    "BOP's leaves are worth nothing": (
        "low, high = leaf_bounds(leaves, y, d, m.terminal[y])",
        "low, high = leaf_bounds(leaves, y, d, m.terminal[y] or d == 0)",
        [
            "tests/bamdp/search/test_enumerating_search.py::test_bop_brackets_the_values_of_forward_search_with_leaves[flat]"
        ],
    ),
    "BOP's counts stay": (
        "add(m, s, a, e, -1.0)",
        "pass",
        ["tests/bamdp/search/test_enumerating_search.py::test_bop_equals_a_naive_transcription[tied-3]"],
    ),
}
