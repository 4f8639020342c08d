"""Planted bugs of bayesrl.risk.guarantee."""

MODULE = "bayesrl.risk.guarantee"
PLANTED = {
    "the order statistic is one too high": (
        "np.partition(returns, k - 1)[k - 1]",
        "np.partition(returns, k)[k]",
        ["tests/risk/test_percentile.py::test_guarantee_is_the_order_statistic"],
    ),
    "the order statistic has too little confidence": (
        "if at_least(middle, n, epsilon) >= confidence else",
        "if at_least(middle, n, epsilon) >= 0.5 else",
        ["tests/risk/test_percentile.py::test_guarantee_is_the_order_statistic"],
    ),
}
