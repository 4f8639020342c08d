"""Planted bugs of bayesrl.models.solvers.driver."""

MODULE = "bayesrl.models.solvers.driver"
PLANTED = {
    "nearly lost ends are not solved": (
        "<= 4.0 * rounding_error(small, start)",
        "<= 0.0 * rounding_error(small, start)",
        ["tests/models/solvers/test_episodic.py::test_ends_that_are_nearly_lost_in_rounding"],
    ),
    "infinite errors are accepted": (
        "math.isfinite(bound) and rate * bound",
        "rate * bound",
        ["tests/bamdp/optimism/test_unvisited.py::test_a_value_beyond_all_numbers_is_not_solved_for"],
    ),
}
