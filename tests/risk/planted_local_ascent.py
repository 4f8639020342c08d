"""Planted bugs of bayesrl.risk.local_ascent."""

MODULE = "bayesrl.risk.local_ascent"
PLANTED = {
    "the best models count": (
        'np.argsort(returns, kind="stable")',
        'np.argsort(-returns, kind="stable")',
        ["tests/risk/test_stationary.py::test_worth_and_gradient"],
    ),
    "visits are not weighted": (
        "weight, d.start @ X, q",
        "weight, X.mean(axis=1), q",
        ["tests/risk/test_stationary.py::test_worth_and_gradient"],
    ),
}
