"""Planted bugs of bayesrl.lab.risk."""

MODULE = "bayesrl.lab.risk"
PLANTED = {
    "each policy has its own models": (
        "mu, n, deepcopy(rng))",
        "mu, n, rng)",
        ["tests/lab/plots/test_risk_plots.py::test_policies_are_assessed_on_common_models"],
    ),
    "the percentile from the wrong end": (
        "np.quantile(returns, epsilon)",
        "np.quantile(returns, 1.0 - epsilon)",
        ["tests/lab/plots/test_risk_plots.py::test_policies_are_assessed_on_common_models"],
    ),
}
