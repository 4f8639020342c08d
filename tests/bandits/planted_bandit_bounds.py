"""Planted bugs of bayesrl.bandits.bandit_bounds."""

MODULE = "bayesrl.bandits.bandit_bounds"
PLANTED = {
    "a bound without its factor": (
        "s * np.sqrt(2.0 * H",
        "s * np.sqrt(H",
        ["tests/lab/test_report.py::test_bounds_are_drawn_where_the_formulas_put_them"],
    ),
}
