"""Planted bugs of bayesrl.lab.plots.values."""

MODULE = "bayesrl.lab.plots.values"
PLANTED = {
    "a surface of variances": (
        "np.sqrt(belief.variance(cells))",
        "belief.variance(cells)",
        ["tests/lab/plots/test_value_plots.py::test_the_surface_is_the_belief_at_the_middle_of_each_cell"],
    ),
    "a band that leaves out both tails twice": (
        "belief.quantile(0.5 - 0.5 * p, line)",
        "belief.quantile(1.0 - p, line)",
        ["tests/lab/plots/test_value_plots.py::test_bands_are_quantiles[mixture]"],
    ),
}
