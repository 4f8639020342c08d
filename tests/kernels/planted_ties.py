"""Planted bugs of bayesrl.kernels.ties."""

MODULE = "bayesrl.kernels.ties"
RULE = "tests/kernels/test_ties.py::test_fast_choices_equal_the_rule"
PLANTED = {
    "the last of the best entries": (
        "            if n == 0:\n",
        "            if n >= 0:\n",
        [RULE],
    ),
    "the first largest entry": (
        "    if first > 0 or not x[0] >= top:\n",
        "    if not x[0] >= top:\n",
        [RULE],
    ),
    "a clear choice is one below the second": (
        "            top, second, first = v, top, i\n",
        "            top, first = v, i\n",
        [RULE],
    ),
    "infinite values tie with all": (
        "    return x - y > margin(most, scale) or most == np.inf\n",
        "    return x - y > margin(most, scale)\n",
        ["tests/kernels/test_ties.py::test_infinite_values_and_values_that_are_no_numbers"],
    ),
}
