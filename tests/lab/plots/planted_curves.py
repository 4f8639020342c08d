"""Planted bugs of bayesrl.lab.plots.curves."""

MODULE = "bayesrl.lab.plots.curves"
PLANTED = {
    "a bound is drawn elsewhere": (
        "axes.plot(bound.steps, bound.value,",
        "axes.plot(bound.steps, 2.0 * bound.value,",
        ["tests/lab/test_report.py::test_bounds_are_drawn_where_the_formulas_put_them"],
    ),
}
