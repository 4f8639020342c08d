"""Planted bugs of bayesrl.beliefs.values.linear_model."""

MODULE = "bayesrl.beliefs.values.linear_model"
PLANTED = {
    "weights of a class are all equal": (
        "np.eye(len(covariance)) + A @ covariance",
        "np.eye(len(covariance)) + 0.0 * A @ covariance",
        ["tests/beliefs/tasks/test_linear_reward_classes.py::test_draws_follow_the_enumerated_clusterings[4]"],
    ),
}
