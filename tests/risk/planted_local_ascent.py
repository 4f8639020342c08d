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
    "terminal states go on with discount 1": (
        "        P[:, models[0].outcomes.terminal] = 0.0\n",
        "",
        [
            "tests/risk/test_undiscounted_risk.py::test_the_ascent_on_drawn_models_has_the_gradient_of_finite_differences"
        ],
    ),
    "models that need not end are drawn": (
        '            must_be_proper("drawn", "belief", m)\n',
        "            pass\n",
        [
            "tests/risk/test_undiscounted_risk.py::test_the_ascent_on_drawn_models_has_the_gradient_of_finite_differences"
        ],
    ),
}
