"""Planted bugs of bayesrl.pacbayes.pac_bayes_value."""

MODULE = "bayesrl.pacbayes.pac_bayes_value"
PLANTED = {
    "no union over actions": (
        "2.0 * S * A",
        "2.0 * S",
        ["tests/pacbayes/test_bounds.py::test_value_bound_by_hand"],
    ),
    "the Bellman error is taken for the distance": (
        "(error + deviation) / (1.0 - gamma)",
        "error + deviation",
        ["tests/pacbayes/test_bounds.py::test_value_bound_by_hand"],
    ),
}
