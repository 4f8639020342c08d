"""Planted bugs of bayesrl.beliefs.values.gp_regression."""

MODULE = "bayesrl.beliefs.values.gp_regression"
PLANTED = {
    "the observation is learnt instead of the action": (
        '"action", datum.action, self.dims',
        '"action", datum.observation, self.dims',
        ["tests/continuous/test_gp_sparse_sampling.py::test_it_learns_actions_and_rewards"],
    ),
    "a given noise covariance is not used": (
        "noise = self.noise**2 * np.eye(n) if S is None else S",
        "noise = self.noise**2 * np.eye(n)",
        ["tests/beliefs/values/test_gp_regression.py::test_linear_statistical_model"],
    ),
    "the evidence's slope has the wrong sign": (
        "np.outer(weight, weight) - inverse",
        "np.outer(weight, weight) + inverse",
        ["tests/beliefs/values/test_gp_regression.py::test_fit_maximises_the_evidence"],
    ),
    "a fit forgets the noise that was given": (
        "return unchecked(new, data=refitted, blocks=blocks)",
        "return unchecked(new, data=refitted)",
        ["tests/beliefs/values/test_gp_regression.py::test_a_fit_keeps_the_noise_that_was_given"],
    ),
}
