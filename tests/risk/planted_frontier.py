"""Planted bugs of bayesrl.risk.frontier."""

MODULE = "bayesrl.risk.frontier"
PLANTED = {
    "the weight of the tail is that of the mean": (
        "[1.0 - weight, weight]",
        "[weight, 1.0 - weight]",
        ["tests/risk/test_frontier.py::test_equal_to_the_program_of_the_tail"],
    ),
    "ties at the ends stay as they are": (
        "if weight in (0.0, 1.0):",
        "if False:",
        ["tests/risk/test_frontier.py::test_ties_go_to_the_better_of_the_other"],
    ),
}
