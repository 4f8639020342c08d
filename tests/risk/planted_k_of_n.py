"""Planted bugs of bayesrl.risk.k_of_n."""

MODULE = "bayesrl.risk.k_of_n"
PLANTED = {
    "the strategy of a drawn iteration is the average": (
        'frozen(now if self.strategy == "random" else strategy_of(total, now))',
        "frozen(strategy_of(total, now))",
        ["tests/risk/test_k_of_n.py::test_transcription[plus]"],
    ),
    "the value of all draws": (
        "axis=1)[:, : self.k]",
        "axis=1)",
        ["tests/risk/test_k_of_n.py::test_two_gaussian_actions"],
    ),
    "the theorem's delta once": (
        "(T * spread * I / (d * e)) ** 2",
        "(T * spread * I / e) ** 2 / d",
        ["tests/risk/test_k_of_n.py::test_iterations_of_the_theorem"],
    ),
}
