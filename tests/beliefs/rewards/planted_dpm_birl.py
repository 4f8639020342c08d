"""Planted bugs of bayesrl.beliefs.rewards.dpm_birl."""

MODULE = "bayesrl.beliefs.rewards.dpm_birl"
PLANTED = {
    "proposed clusters ignore their sizes": (
        "np.append(size, self.concentration)",
        "np.append(size > 0.0, self.concentration)",
        ["tests/beliefs/rewards/test_dpm_birl.py::test_densities_follow_the_enumerated_partitions"],
    ),
    "the step changes after the warm-up": (
        "0 if self.step or len(self.assignments) else WARM_UP",
        "0 if self.step else WARM_UP",
        ["tests/beliefs/rewards/test_dpm_birl.py::test_a_warm_up_finds_the_step[4-10.0]"],
    ),
    "a new trajectory ignores the sizes of clusters": (
        "np.append(times.astype(float), c * prior)",
        "np.append(np.ones(len(times)), c * prior)",
        ["tests/beliefs/rewards/test_dpm_birl.py::test_draws_follow_the_enumerated_partitions[4-0.5]"],
    ),
}
