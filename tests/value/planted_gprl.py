"""Planted bugs of bayesrl.value.gprl."""

MODULE = "bayesrl.value.gprl"
PLANTED = {
    "the reward of a certain next state": (
        "R.append(reward.expectation(mean, spread,",
        "R.append(reward.expectation(mean, 0.0 * spread,",
        ["tests/value/test_gprl.py::test_expectations_match_monte_carlo"],
    ),
    "values are not discounted": (
        "R + self.gamma * (W @",
        "R + (W @",
        ["tests/value/test_gprl.py::test_both_evaluations_agree"],
    ),
}
