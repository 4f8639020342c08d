"""Planted bugs of bayesrl.beliefs.arms.normal_gamma_arm."""

MODULE = "bayesrl.beliefs.arms.normal_gamma_arm"
PLANTED = {
    "half the degrees of freedom in draws": (
        "standard_t(2.0 * self.shape)",
        "standard_t(self.shape)",
        ["tests/beliefs/test_laws.py::test_belief_laws[normal-gamma-arm]"],
    ),
    "half the degrees of freedom in quantiles": (
        "special.stdtrit(2.0 * self.shape, p)",
        "special.stdtrit(self.shape, p)",
        ["tests/beliefs/test_laws.py::test_belief_laws[normal-gamma-arm]"],
    ),
}
