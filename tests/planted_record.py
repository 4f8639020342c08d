"""Planted bugs of bayesrl.record."""

MODULE = "bayesrl.record"
PLANTED = {
    "a record can be changed in another process": (
        "in self.columns.values():  # a pickle does",
        "in ():  # a pickle does",
        ["tests/test_pickles.py::test_copies_of_whatever_is_made_are_read_only_too[a record-pickle]"],
    ),
}
