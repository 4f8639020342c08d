"""Planted bugs of bayesrl.models.policies.softmax_policy."""

MODULE = "bayesrl.models.policies.softmax_policy"
PLANTED = {
    "the temperature is missing in the score": (
        "np.outer(phi, gap).ravel() / self.temperature",
        "np.outer(phi, gap).ravel()",
        ["tests/models/policies/test_policy.py::test_the_score_is_the_gradient_of_log_prob[temperature]"],
    ),
    "the temperature is not squared in the Hessian": (
        "-curved / self.temperature**2",
        "-curved / self.temperature",
        ["tests/models/policies/test_policy.py::test_the_hessian_is_the_derivative_of_the_score[temperature]"],
    ),
    "the parameters of a table are numbered by action first": (
        "cls(given.reshape(S, A), ",
        "cls(given.reshape(A, S).T, ",
        ["tests/models/policies/test_policy.py::test_parameters_of_a_table_are_numbered_by_state_and_action"],
    ),
    "the score forgets its mean": (
        "gap = -np.exp(log_p)",
        "gap = 0.0 * log_p",
        ["tests/models/policies/test_policy.py::test_the_score_is_the_gradient_of_log_prob[softmax]"],
    ),
}
