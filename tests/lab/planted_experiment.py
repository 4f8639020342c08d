"""Planted bugs of bayesrl.lab.experiment."""

MODULE = "bayesrl.lab.experiment"
PLANTED = {
    "the line of the optimum knows no horizon": (
        "optimal_totals(mdp, self.comparison.steps, self.horizon)",
        "optimal_totals(mdp, self.comparison.steps, None)",
        ["tests/lab/test_report.py::test_the_optimum_of_cut_episodes_begins_again"],
    ),
}
