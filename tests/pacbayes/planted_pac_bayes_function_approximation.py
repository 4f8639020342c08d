"""Planted bugs of bayesrl.pacbayes.pac_bayes_function_approximation."""

MODULE = "bayesrl.pacbayes.pac_bayes_function_approximation"
PLANTED = {
    "mixing is not squared": (
        "n / mixing**2",
        "n / mixing",
        ["tests/pacbayes/test_bounds.py::test_function_approximation_bound_by_hand"],
    ),
    "the noise of a TD error without its policy": (
        "(target - mean[:, None, None]) ** 2",
        "(target - V[:, None, None]) ** 2",
        ["tests/pacbayes/test_bounds.py::test_decomposition_sums_over_all_transitions"],
    ),
    "the start for the stationary distribution": (
        "mdp.outcomes.start @ L)",
        "mdp.outcomes.start)",
        ["tests/pacbayes/test_bounds.py::test_decomposition_sums_over_all_transitions"],
    ),
}
