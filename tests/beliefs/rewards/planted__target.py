"""Planted bugs of bayesrl.beliefs.rewards._target."""

MODULE = "bayesrl.beliefs.rewards._target"
PLANTED = {
    "acceptance is a ratio of exponentials": (
        "if np.log(rng.random()) < log_ratio:",
        "if rng.random() < np.exp(self.log_posterior(new)) / np.exp(self.log_posterior(self.now.weights)):",
        ["tests/beliefs/rewards/test_dpm_birl.py::test_long_trajectories_do_not_underflow"],
    ),
}
