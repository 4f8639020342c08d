"""Planted bugs of bayesrl.statistics."""

MODULE = "bayesrl.statistics"
PLANTED = {
    "a single run of the second sample has a spread": (
        "    if n == 1:\n        return Interval(mean, -np.inf, np.inf, n)",
        "    if a.n == 1:\n        return Interval(mean, -np.inf, np.inf, n)",
        ["tests/test_statistics.py::test_a_difference_is_the_other_one_turned_round[2-1]"],
    ),
}
