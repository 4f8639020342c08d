"""Planted bugs of bayesrl.lab.compare."""

MODULE = "bayesrl.lab.compare"
PLANTED = {
    "compare keeps nothing": (
        "lockstep=lockstep, keep=keep, watch=watch)",
        "lockstep=lockstep, watch=watch)",
        ["tests/lab/test_compare.py::test_kept_columns_are_those_of_the_runs"],
    ),
}
