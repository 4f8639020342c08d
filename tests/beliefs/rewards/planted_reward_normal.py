"""Planted bugs of bayesrl.beliefs.rewards.reward_normal."""

MODULE = "bayesrl.beliefs.rewards.reward_normal"
PLANTED = {
    "the count of a reward cell leaves out the prior": (
        "return self.strength\n",
        "return self.strength - 1.0\n",
        ["tests/beliefs/test_laws.py::test_belief_laws[reward-normal]"],
    ),
}
