"""Planted bugs of bayesrl.io.archive."""

MODULE = "bayesrl.io.archive"
PLANTED = {
    "an array that is named twice has any form the second time": (
        "        found = self.arrays[name]\n        _check_form(name, found.dtype, found.shape, dtype, shape)\n        return found\n",
        "        return self.arrays[name]\n",
        ["tests/io/test_store.py::test_an_array_that_a_page_names_twice_has_one_form"],
    ),
}
