"""Planted bugs of bayesrl.beliefs.tabular._known_rewards."""

MODULE = "bayesrl.beliefs.tabular._known_rewards"
PLANTED = {
    "VBRB's covariance has no n + 1": (
        "np.maximum(c *",
        "np.maximum(c / (1.0 - c) *",
        ["tests/bamdp/test_optimism.py::test_vbrb_variances_are_the_dirichlets[flat]"],
    ),
    "known groups vary together": (
        "        covariance[known] = 0.0",
        "        pass",
        ["tests/beliefs/test_row_covariance.py::test_of_a_dirichlet"],
    ),
}
