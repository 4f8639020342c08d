"""Planted bugs of bayesrl.continuous._gp_pomdp_model."""

MODULE = "bayesrl.continuous._gp_pomdp_model"
PLANTED = {
    "a reward with the first noise": (
        "reward), np.square(noise)",
        "reward), np.square(noise[::-1])",
        ["tests/continuous/test_gp_pomdp_rewards.py::test_log_joint_with_rewards[each its own]"],
    ),
}
