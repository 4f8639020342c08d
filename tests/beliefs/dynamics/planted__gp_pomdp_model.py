"""Planted bugs of bayesrl.beliefs.dynamics._gp_pomdp_model."""

MODULE = "bayesrl.beliefs.dynamics._gp_pomdp_model"
PLANTED = {
    "a reward with the first noise": (
        "reward), np.square(noise)",
        "reward), np.square(noise[::-1])",
        ["tests/beliefs/dynamics/test_gp_pomdp_rewards.py::test_log_joint_with_rewards[each its own]"],
    ),
}
