"""Planted bugs of bayesrl.beliefs.rewards.gaussian_rewards."""

MODULE = "bayesrl.beliefs.rewards.gaussian_rewards"
PLANTED = {
    "the deviation of a reward for its variance": (
        "c = float(C[i, i]) + self.noise**2",
        "c = float(C[i, i]) + self.noise",
        ["tests/beliefs/rewards/test_gaussian_rewards.py::test_posterior_is_the_conditioned_joint_gaussian"],
    ),
    "other pairs keep their variance": (
        "shrunk = C - np.outer(gain, gain)",
        "shrunk = C.copy()",
        ["tests/beliefs/rewards/test_gaussian_rewards.py::test_posterior_is_the_conditioned_joint_gaussian"],
    ),
    "other pairs keep their mean": (
        "self.mean_ + (row * (error / c))",
        "self.mean_ + ((row * (np.arange(len(row)) == i)) * (error / c))",
        ["tests/beliefs/rewards/test_gaussian_rewards.py::test_posterior_is_the_conditioned_joint_gaussian"],
    ),
    "the evidence forgets the next states": (
        "self.evidence + math.log(p) - 0.5",
        "self.evidence - 0.5",
        ["tests/beliefs/rewards/test_gaussian_rewards.py::test_posterior_is_the_conditioned_joint_gaussian"],
    ),
    "variances are drawn for deviations": (
        "= np.sqrt(np.diagonal(C)[some])",
        "= np.diagonal(C)[some]",
        ["tests/worlds/risk/test_machine_costs.py::test_worlds_have_their_law"],
    ),
    "an impossible transition is learnt": (
        "        if p == 0.0:\n",
        "        if False:\n",
        ["tests/beliefs/rewards/test_gaussian_rewards.py::test_impossible_transitions"],
    ),
}
