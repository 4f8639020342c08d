"""Planted bugs of bayesrl.beliefs.values.gptd_sparse."""

MODULE = "bayesrl.beliefs.values.gptd_sparse"
PLANTED = {
    "the sparse variance leaves out what the dictionary misses": (
        "return left_out + nonnegative",
        "return 0.0 * left_out + nonnegative",
        ["tests/beliefs/values/test_gptd.py::test_sparse_is_the_projected_model"],
    ),
}
