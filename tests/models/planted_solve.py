"""Planted bugs of bayesrl.models.solve."""

MODULE = "bayesrl.models.solve"
PLANTED = {
    "infinite errors are accepted": (
        "math.isfinite(bound) and rate * bound",
        "rate * bound",
        ["tests/bamdp/optimism/test_unvisited.py::test_a_value_beyond_all_numbers_is_not_solved_for"],
    ),
}
