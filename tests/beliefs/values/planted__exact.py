"""Planted bugs of bayesrl.beliefs.values._exact."""

MODULE = "bayesrl.beliefs.values._exact"
PLANTED = {
    "the posterior covariance without its data": (
        "return np.asarray(K - U.T @ U)",
        "return K",
        ["tests/beliefs/values/test_gptd.py::test_equal_to_dense_conditioning"],
    ),
}
