"""Planted bugs of bayesrl.beliefs.rewards.langevin."""

MODULE = "bayesrl.beliefs.rewards.langevin"
PLANTED = {
    "Langevin proposals are clipped to the box": (
        "    after = belief.log_posterior(new)\n",
        ("    new = np.clip(new, -1.0, 1.0)\n    after = belief.log_posterior(new)\n"),
        ["tests/beliefs/rewards/test_dpm_birl.py::test_densities_follow_the_enumerated_partitions"],
    ),
    "Langevin steps forget the way back": (
        "after - before + 0.5 * (noise @ noise - xi @ xi)",
        "after - before",
        ["tests/beliefs/rewards/test_dpm_birl.py::test_langevin_by_hand"],
    ),
}
