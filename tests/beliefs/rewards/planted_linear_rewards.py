"""Planted bugs of bayesrl.beliefs.rewards.linear_rewards."""

MODULE = "bayesrl.beliefs.rewards.linear_rewards"
PLANTED = {
    "the reward of the state reached": (
        "        return self.features @ w\n",
        "        return (self.P @ (self.features @ w).mean(axis=1)).reshape(self.features.shape[:2])\n",
        ["tests/beliefs/rewards/test_birl.py::test_exact_values_of_the_facts"],
    ),
}
