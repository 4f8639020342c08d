"""Planted bugs of bayesrl.beliefs.values.gaussian."""

MODULE = "bayesrl.beliefs.values.gaussian"
PLANTED = {
    "a quantile takes the variance for the standard deviation": (
        "deviation = np.sqrt(self.variance(states))",
        "deviation = self.variance(states)",
        ["tests/beliefs/values/test_gptd.py::test_calibrated"],
    ),
    "draws forget the covariance": (
        "root = vectors * np.sqrt(nonnegative(owner, values, self.prior_variances(states).sum()))",
        "root = np.diag(np.sqrt(np.diagonal(self.covariance(states))))",
        ["tests/beliefs/values/test_gptd.py::test_joint_draws_have_the_posterior_moments"],
    ),
}
