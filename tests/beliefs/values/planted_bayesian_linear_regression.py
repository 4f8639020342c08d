"""Planted bugs of bayesrl.beliefs.values.bayesian_linear_regression."""

MODULE = "bayesrl.beliefs.values.bayesian_linear_regression"
PLANTED = {
    "linear regression keeps the prior's variance": (
        "s * positive_solved(L, np.eye(k))",
        "positive_solved(L, np.eye(k))",
        ["tests/beliefs/values/test_gp_regression.py::test_both_forms_of_linear_regression_agree"],
    ),
    "a second log forgets the squares of the first": (
        "squares + float(y @ y),",
        "float(y @ y),",
        ["tests/beliefs/test_plumbing.py::test_one_log_is_several[bayesian-linear-regression]"],
    ),
}
