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
    "a leaf pays for one step with discount 1": (
        "L * min(low, 0.0), L * max(high, 0.0)",
        "min(low, 0.0), max(high, 0.0)",
        ["tests/bamdp/test_undiscounted.py::test_bop_brackets_a_known_model_that_comes_back[None]"],
    ),
    "lines count as if states came back": (
        "if longest is not None:",
        "if longest is not None and not undiscounted:",
        ["tests/bamdp/test_undiscounted.py::test_bop_on_a_line_has_certain_bounds_and_the_exact_values"],
    ),
    "BOP may plan for episodes that need not end": (
        '            must_be_proper("BOP", "belief", mean_of(belief), "Or give a depth.")\n',
        "            pass\n",
        ["tests/bamdp/test_undiscounted.py::test_planners_refuse_what_need_not_end[bop]"],
    ),
}
