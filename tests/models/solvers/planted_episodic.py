"""Planted bugs of bayesrl.models.solvers.episodic."""

MODULE = "bayesrl.models.solvers.episodic"
PLANTED = {
    "nearly lost ends are not solved": (
        "<= 4.0 * rounding_error(small, start)",
        "<= 0.0 * rounding_error(small, start)",
        ["tests/models/solvers/test_episodic.py::test_ends_that_are_nearly_lost_in_rounding"],
    ),
    "staying is no end where one could leave": (
        "if not reached.any():",
        "if not ended.any():",
        ["tests/models/solvers/test_episodic.py::test_to_stay_for_nothing_is_an_end_where_one_could_leave"],
    ),
}
