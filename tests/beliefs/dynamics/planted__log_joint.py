"""Planted bugs of bayesrl.beliefs.dynamics._log_joint."""

MODULE = "bayesrl.beliefs.dynamics._log_joint"
PLANTED = {
    "joint without noise": (
        "noise * np.eye",
        "1e-9 * np.eye",
        ["tests/beliefs/dynamics/test_gp_pomdp.py::test_log_joint_equals_dense_normals"],
    ),
    "sign of the gradient": (
        "gradient[before] += in_inputs",
        "gradient[before] -= in_inputs",
        ["tests/beliefs/dynamics/test_gp_pomdp.py::test_gradient_equals_finite_differences"],
    ),
    "half the gradient of a covariance": (
        '2.0 * np.einsum("kl',
        'np.einsum("kl',
        ["tests/beliefs/dynamics/test_gp_pomdp.py::test_gradient_equals_finite_differences"],
    ),
    "gradient without the mean": (
        "in_inputs[:, axis] += ",
        "in_inputs[:, axis] += 0.0 * ",
        ["tests/beliefs/dynamics/test_gp_pomdp.py::test_gradient_equals_finite_differences"],
    ),
    "one start of the maximum": (
        "for x in starts]",
        "for x in starts[1:2]]",
        ["tests/beliefs/dynamics/test_gp_pomdp.py::test_the_best_of_several_maxima"],
    ),
    "rewards one step late": (
        "np.column_stack([data, history.rewards])",
        "np.column_stack([data, np.roll(history.rewards, 1)])",
        ["tests/beliefs/dynamics/test_gp_pomdp_rewards.py::test_log_joint_with_rewards[each its own]"],
    ),
}
