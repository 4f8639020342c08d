"""Planted bugs of bayesrl.models.solvers.finite_horizon."""

MODULE = "bayesrl.models.solvers.finite_horizon"
PLANTED = {
    "the last policy comes first": (
        "policy[horizon - 1 - n] =",
        "policy[n] =",
        ["tests/models/solvers/test_finite_horizon.py::test_the_policy_changes_as_the_end_comes_near"],
    ),
}
