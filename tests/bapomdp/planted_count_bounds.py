"""Planted bugs of bayesrl.bapomdp.count_bounds."""

MODULE = "bayesrl.bapomdp.count_bounds"
PLANTED = {
    "the error of one row": (
        "one = 4.0 / (N + 1.0)",
        "one = 2.0 / (N + 1.0)",
        ["tests/bapomdp/test_bapomdp_search.py::test_the_bounds_by_hand"],
    ),
}
