"""Planted bugs of bayesrl.beliefs.dynamics._gp_tree."""

MODULE = "bayesrl.beliefs.dynamics._gp_tree"
PLANTED = {
    "a compiled tree that does not learn": (
        "learn(gp, n + level, number)",
        "learn(gp, n + level, 0.0 * number)",
        ["tests/continuous/test_continuous_forward_search.py::test_the_compiled_tree_is_the_plain_one"],
    ),
    "a compiled tree that forgets the first decision": (
        "predict(gp, n + level, s, A[k], m, sd)",
        "predict(gp, n, s, A[k], m, sd)",
        ["tests/continuous/test_continuous_forward_search.py::test_three_decisions_on_a_process_are_quadrature"],
    ),
    "fresh random numbers for each action of the compiled tree": (
        "z[before + same * C + i]",
        "z[before + (same * C + i + k) % shared]",
        ["tests/continuous/test_continuous_forward_search.py::test_the_compiled_tree_is_the_plain_one"],
    ),
}
