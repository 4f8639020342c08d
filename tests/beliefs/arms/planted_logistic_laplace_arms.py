"""Planted bugs of bayesrl.beliefs.arms.logistic_laplace_arms."""

MODULE = "bayesrl.beliefs.arms.logistic_laplace_arms"
PLANTED = {
    "the variance stands for the deviation of correlated log-odds": (
        "np.sqrt(np.sum((X @ self.root) ** 2, axis=-1))",
        "np.sum((X @ self.root) ** 2, axis=-1)",
        ["tests/beliefs/test_laws.py::test_belief_laws[logistic-laplace-arms]"],
    ),
}
