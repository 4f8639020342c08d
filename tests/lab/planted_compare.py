"""Planted bugs of bayesrl.lab.compare."""

MODULE = "bayesrl.lab.compare"
PLANTED = {
    "compare keeps nothing": (
        "lockstep=lockstep, keep=keep, watch=watch)",
        "lockstep=lockstep, watch=watch)",
        ["tests/lab/test_compare.py::test_kept_columns_are_those_of_the_runs"],
    ),
    "a block that is cut counts in full among the finished runs": (
        "min(self.replicates.stop * size, runs))",
        "self.replicates.stop * size)",
        ["tests/lab/test_compare.py::test_what_was_finished_is_told_in_runs[4-11-1]"],
    ),
    "tuples of several types are stacked": (
        "== 1 and len(tuples) <= 1:",
        "== 1:",
        ["tests/lab/test_compare.py::test_a_gathered_column_holds_what_each_run_recorded"],
    ),
}
