"""Planted bugs of bayesrl.beliefs.arms.logistic_arms."""

MODULE = "bayesrl.beliefs.arms.logistic_arms"
PLANTED = {
    "the variance stands for the deviation of log-odds": (
        "np.sqrt(apply(X * X, 1.0 / self.precision))",
        "apply(X * X, 1.0 / self.precision)",
        ["tests/beliefs/test_laws.py::test_belief_laws[logistic-arms]"],
    ),
}
