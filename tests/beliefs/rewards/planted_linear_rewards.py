"""Planted bugs of bayesrl.beliefs.rewards.linear_rewards."""

MODULE = "bayesrl.beliefs.rewards.linear_rewards"
PLANTED = {
    "the reward of the state reached": (
        "        return self.features @ w\n",
        "        return (self.P @ (self.features @ w).mean(axis=1)).reshape(self.features.shape[:2])\n",
        ["tests/beliefs/rewards/test_birl.py::test_exact_values_of_the_facts"],
    ),
    "rewards of episodes that need not end": (
        '        must_be_proper(owner, "problem", mdp)\n',
        "",
        ["tests/beliefs/rewards/test_undiscounted_rewards.py::test_beliefs_about_rewards_draw_and_refuse[BIRL]"],
    ),
    "the largest value is that of one step": (
        "reward * longest_episode(self.mdp) if",
        "reward if",
        ["tests/beliefs/rewards/test_undiscounted_rewards.py::test_the_largest_value_is_a_bound"],
    ),
}
