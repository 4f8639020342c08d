"""Planted bugs of bayesrl.models.solvers._finite_horizon."""

MODULE = "bayesrl.models.solvers._finite_horizon"
PLANTED = {
    "the last policy comes first": (
        "policy[horizon - 1 - n] =",
        "policy[n] =",
        ["tests/models/test_finite_horizon.py::test_the_policy_changes_as_the_end_comes_near"],
    ),
}
