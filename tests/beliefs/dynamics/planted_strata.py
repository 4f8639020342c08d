"""Planted bugs of bayesrl.beliefs.dynamics.strata."""

MODULE = "bayesrl.beliefs.dynamics.strata"
PLANTED = {
    "draws of the lower half": (
        "rng.integers(OVER, size=width)",
        "rng.integers(OVER // 2, size=width)",
        ["tests/continuous/test_continuous_forward_search.py::test_two_decisions_are_the_closed_form"],
    ),
    "draws that are not spread": (
        'np.argsort(key, kind="stable")',
        "np.arange(len(key))",
        ["tests/continuous/test_continuous_forward_search.py::test_two_decisions_are_the_closed_form"],
    ),
}
