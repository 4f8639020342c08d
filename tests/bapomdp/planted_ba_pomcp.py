"""Planted bugs of bayesrl.bapomdp.ba_pomcp."""

MODULE = "bayesrl.bapomdp.ba_pomcp"
PLANTED = {
    "a filter under BA-POMCP": (
        "class BAPOMCPNeeds(SimulatesHidden, ListsHyperStates, Protocol)",
        "class BAPOMCPNeeds(SimulatesHidden, Protocol)",
        ["tests/bapomdp/test_ba_pomcp.py::test_a_filter_is_refused"],
    ),
}
