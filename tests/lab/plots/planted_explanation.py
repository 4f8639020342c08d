"""Planted bugs of bayesrl.lab.plots.explanation."""

MODULE = "bayesrl.lab.plots.explanation"
PLANTED = {
    "arrows do not show probabilities": (
        "(1.6 * p, 0.0)",
        "(1.6, 0.0)",
        ["tests/lab/plots/test_policy_maps.py::test_arrows_are_as_long_as_their_actions_are_probable"],
    ),
}
