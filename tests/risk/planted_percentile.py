"""Planted bugs of bayesrl.risk.percentile."""

MODULE = "bayesrl.risk.percentile"
PLANTED = {
    "the percentile from the wrong end": (
        "quantile=float(np.quantile(returns, self.epsilon))",
        "quantile=float(np.quantile(returns, 1.0 - self.epsilon))",
        ["tests/risk/test_percentile.py::test_percentiles_are_those_of_the_policies"],
    ),
    "normal ignores epsilon": (
        "ndtri(1.0 - self.epsilon)",
        "ndtri(0.9)",
        ["tests/risk/test_percentile.py::test_normal_uses_epsilon"],
    ),
    "rows of the first start are kept even if they are worse": (
        "if objective(other, m, z) >= least else best",
        "if least > -np.inf else best",
        ["tests/risk/test_percentile.py::test_reference_problem"],
    ),
    "the policies meet different models": (
        "again = deepcopy(rng)",
        "again = rng",
        ["tests/risk/test_percentile.py::test_both_policies_meet_the_same_models"],
    ),
    "the percentile of what need not end": (
        "        require_ends(owner, belief)\n",
        "",
        ["tests/risk/test_undiscounted_risk.py::test_percentile_refuses_what_need_not_end"],
    ),
}
