"""Planted bugs of bayesrl.beliefs.rewards.bnirl."""

MODULE = "bayesrl.beliefs.rewards.bnirl"
PLANTED = {
    "the sub-goal pays in every state but itself": (
        "            R[goal] = 1.0\n",
        "            R[goal] = -1.0\n",
        ["tests/beliefs/rewards/test_bnirl.py::test_draws_follow_the_enumerated_partitions[4-0.5-candidates0]"],
    ),
    "goals of episodes that need not end": (
        '        must_be_proper("BNIRL", "problem", mdp)\n',
        "",
        ["tests/beliefs/rewards/test_undiscounted_rewards.py::test_beliefs_about_rewards_draw_and_refuse[BNIRL]"],
    ),
}
