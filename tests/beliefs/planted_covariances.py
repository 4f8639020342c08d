"""Planted bugs of bayesrl.beliefs.covariances."""

MODULE = "bayesrl.beliefs.covariances"
PLANTED = {
    "an expectation forgets its shrinkage": (
        "self.variance * shrink[..., None] * np.exp",
        "self.variance * np.exp",
        ["tests/beliefs/values/test_gp_regression.py::test_expectations_match_monte_carlo"],
    ),
    "a double expectation counts the spread once": (
        "np.linalg.det(L + 2.0 * S)",
        "np.linalg.det(L + S)",
        ["tests/beliefs/values/test_gp_regression.py::test_expectations_match_monte_carlo"],
    ),
    "a direction's covariance divides by the bracket": (
        "0.5 * (1.0 - self.b) * (X @ Y.T - 1.0)",
        "0.5 * (1.0 - self.b) * (X @ Y.T + 1.0)",
        ["tests/beliefs/values/test_gp_regression.py::test_covariances_by_hand"],
    ),
}
