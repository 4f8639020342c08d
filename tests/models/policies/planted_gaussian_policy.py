"""Planted bugs of bayesrl.models.policies.gaussian_policy."""

MODULE = "bayesrl.models.policies.gaussian_policy"
PLANTED = {
    "the mixed derivatives of a Gaussian are halved": (
        "mixed = -2.0 *",
        "mixed = -1.0 *",
        ["tests/models/policies/test_policy.py::test_the_hessian_is_the_derivative_of_the_score[gaussian with sigma]"],
    ),
    "a Gaussian score forgets a square": (
        "np.outer(z, phi).ravel() / self.sigma**2",
        "np.outer(z, phi).ravel() / self.sigma",
        ["tests/models/policies/test_policy.py::test_the_score_is_the_gradient_of_log_prob[gaussian]"],
    ),
}
