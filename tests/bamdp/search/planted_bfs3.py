"""Planted bugs of bayesrl.bamdp.search.bfs3."""

MODULE = "bayesrl.bamdp.search.bfs3"
PLANTED = {
    "BFS3's trajectories learn nothing": (
        "replay(model, s, a, k)",
        "pass",
        ["tests/bamdp/search/test_bfs3.py::test_bounds_bracket_the_exact_values[tied-8]"],
    ),
    "BFS3's successors teach nothing": (
        "replay(model, s0, a, k)",
        "pass",
        ["tests/bamdp/search/test_bfs3.py::test_bounds_bracket_the_exact_values[tied-8]"],
    ),
    "BFS3 believes the lower bound": (
        "q[UPPER, a] += (r + leaves.gamma * tree.value[0, UPPER]) / C",
        "q[UPPER, a] += (r + leaves.gamma * tree.value[0, LOWER]) / C",
        ["tests/bamdp/search/test_bfs3.py::test_equal_in_law_to_a_naive_transcription[small-3]"],
    ),
    "what was not drawn is nothing at the root": (
        "q[SURE_UPPER, a] += max(rest, 0.0) * leaves.range[D, 1]",
        "pass",
        ["tests/bamdp/search/test_bfs3.py::test_bounds_bracket_the_exact_values[flat-1]"],
    ),
}
