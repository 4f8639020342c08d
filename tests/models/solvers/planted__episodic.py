"""Planted bugs of bayesrl.models.solvers._episodic."""

MODULE = "bayesrl.models.solvers._episodic"
PLANTED = {
    "staying is no end where one could leave": (
        "if not reached.any():",
        "if not ended.any():",
        ["tests/models/test_episodic.py::test_to_stay_for_nothing_is_an_end_where_one_could_leave"],
    ),
}
