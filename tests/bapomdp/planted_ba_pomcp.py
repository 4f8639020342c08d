"""Planted bugs of bayesrl.bapomdp.ba_pomcp."""

MODULE = "bayesrl.bapomdp.ba_pomcp"
PLANTED = {
    "a filter under BA-POMCP": (
        "class Asked(SimulatesHidden, ListsHyperStates, Protocol)",
        "class Asked(SimulatesHidden, Protocol)",
        ["tests/bapomdp/test_ba_pomcp.py::test_a_filter_is_refused"],
    ),
}
