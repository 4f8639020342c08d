"""Planted bugs of bayesrl.beliefs.rewards.bnirl."""

MODULE = "bayesrl.beliefs.rewards.bnirl"
PLANTED = {
    "the sub-goal pays in every state but itself": (
        "            R[goal] = 1.0\n",
        "            R[goal] = -1.0\n",
        ["tests/beliefs/rewards/test_bnirl.py::test_draws_follow_the_enumerated_partitions[4-0.5-candidates0]"],
    ),
}
