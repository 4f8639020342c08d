"""Planted bugs of bayesrl.lab.plots.risk."""

MODULE = "bayesrl.lab.plots.risk"
PLANTED = {
    "the lines are exchanged": (
        '(each.cvar, ":"',
        '(each.guarantee, ":"',
        ["tests/lab/plots/test_risk_plots.py::test_what_is_drawn_is_what_was_assessed"],
    ),
    "returns far off are left out": (
        "np.clip(each.returns, *edges[[0, -1]]), edges.tolist(), color=colour, alpha=0.35, density=True",
        "each.returns, edges.tolist(), color=colour, alpha=0.35, weights=np.full(len(each.returns), 1.0 / len(each.returns) / (edges[1] - edges[0]))",
        ["tests/lab/plots/test_risk_plots.py::test_what_is_drawn_is_what_was_assessed"],
    ),
    "a frontier of shuffled points": (
        "frontier.mean[order], frontier.tail[order]",
        "frontier.mean, frontier.tail[order]",
        ["tests/risk/test_frontier.py::test_the_picture_shows_the_frontier"],
    ),
}
