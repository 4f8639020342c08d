"""Planted bugs of bayesrl.multitask.policy_iteration."""

MODULE = "bayesrl.multitask.policy_iteration"
PLANTED = {
    "evaluation of the uniform policy in every round": (
        "if m >= len(at.weights) or not at.rounds:",
        "if True:",
        [
            "tests/multitask/test_policy_iteration.py::test_complete_logs_of_deterministic_tasks_give_the_optimal_policies"
        ],
    ),
}
