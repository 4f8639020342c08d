"""Planted bugs of bayesrl.lab.plots.gradients."""

MODULE = "bayesrl.lab.plots.gradients"
PLANTED = {
    "ellipses with the radius of one coordinate": (
        "squared_radius = -2.0 * np.log1p(",
        "squared_radius = -np.log1p(",
        ["tests/lab/plots/test_value_plots.py::test_ellipses_hold_their_share_of_the_posterior[pair0]"],
    ),
    "an ellipse along the other axis": (
        "np.arctan2(vectors[1, 0], vectors[0, 0])",
        "np.arctan2(vectors[0, 0], vectors[1, 0])",
        ["tests/lab/plots/test_value_plots.py::test_ellipses_hold_their_share_of_the_posterior[pair0]"],
    ),
}
