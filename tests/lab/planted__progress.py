"""Planted bugs of bayesrl.lab._progress."""

MODULE = "bayesrl.lab._progress"
PLANTED = {
    "lines come as fast as tenths": (
        "                told, due = tenth, now + LINES\n",
        "                told = tenth\n",
        ["tests/lab/test_progress.py::test_lines_are_of_new_tenths_and_not_too_often[1000-True]"],
    ),
}
