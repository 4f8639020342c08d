"""Planted bugs of bayesrl.io.logs."""

MODULE = "bayesrl.io.logs"
PLANTED = {
    "runs are read step by step": (
        "column.T.ravel()",
        "column.ravel()",
        ["tests/io/test_logs.py::test_all_runs_of_a_comparison_are_read"],
    ),
}
