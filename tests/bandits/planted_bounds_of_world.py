"""Planted bugs of bayesrl.bandits.bounds_of_world."""

MODULE = "bayesrl.bandits.bounds_of_world"
PLANTED = {
    "a prior's bound for any prior": (
        "if prior is None or prior == own else {}",
        "",
        ["tests/bandits/test_bounds.py::test_bounds_of_families"],
    ),
}
