"""Planted bugs of bayesrl.beliefs.rewards.multitask_birl."""

MODULE = "bayesrl.beliefs.rewards.multitask_birl"
PLANTED = {
    "every task is scored on all demonstrations": (
        "return np.asarray(self.taken @ self._log_policies.T)",
        "return np.asarray((0.0 * self.taken + self.taken.sum(axis=0)) @ self._log_policies.T)",
        ["tests/beliefs/rewards/test_multitask_birl.py::test_exact_posterior_is_the_enumerated_one"],
    ),
    "tasks do not share their prior": (
        "np.tensordot(self.hyper_posterior(), each, axes=1)",
        "np.tensordot(np.asarray(self.hyper), each, axes=1)",
        ["tests/beliefs/rewards/test_multitask_birl.py::test_exact_posterior_is_the_enumerated_one"],
    ),
    "theta is drawn without the rewards": (
        "[sum(q.log_density(x.weights) for x in now) for q in self.priors]",
        "[0.0 for q in self.priors]",
        ["tests/beliefs/rewards/test_multitask_birl.py::test_draws_agree_with_quadrature"],
    ),
    "theta is drawn without its own prior": (
        "normalised(self._log_hyper + [sum",
        "normalised(0.0 * self._log_hyper + [sum",
        ["tests/beliefs/rewards/test_calibration_of_tasks.py::test_sweeps_keep_the_joint_distribution"],
    ),
    "rewards move by the density of the first prior": (
        "Target(self, self.priors[theta], self.taken[m]",
        "Target(self, self.priors[0], self.taken[m]",
        ["tests/beliefs/rewards/test_calibration_of_tasks.py::test_sweeps_keep_the_joint_distribution"],
    ),
    "rewards move by the demonstrations of all tasks": (
        "self.taken[m], now[m])",
        "self.taken.sum(axis=0), now[m])",
        ["tests/beliefs/rewards/test_calibration_of_tasks.py::test_sweeps_keep_the_joint_distribution"],
    ),
    "a proposed reward is judged on all tasks": (
        "other.log_l[m] - now[m].log_l[m]",
        "other.log_l.sum() - now[m].log_l.sum()",
        ["tests/beliefs/rewards/test_multitask_birl.py::test_draws_agree_with_quadrature"],
    ),
    "the prior of policies is not normalised": (
        "+ self.sums[:-1] - self.sums[-1])",
        "+ self.sums[:-1])",
        ["tests/beliefs/rewards/test_multitask_birl.py::test_the_model_of_policies_agrees_with_quadrature"],
    ),
}
