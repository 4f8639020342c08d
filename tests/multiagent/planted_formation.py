"""Planted bugs of bayesrl.multiagent.formation."""

MODULE = "bayesrl.multiagent.formation"
PLANTED = {
    "the others are not asked": (
        " and _accepted(state, worth, x, i)]",
        "]",
        ["tests/multiagent/test_formation.py::test_replies_are_the_best_accepted_ones"],
    ),
}
