"""Planted bugs of bayesrl.gradient._paths."""

MODULE = "bayesrl.gradient._paths"
PLANTED = {
    "returns are not discounted": (
        "self.rewards @ gamma ** np.arange(len(self.rewards))",
        "self.rewards.sum()",
        ["tests/gradient/test_baselines.py::test_estimates_are_unbiased"],
    ),
}
