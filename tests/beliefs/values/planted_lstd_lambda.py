"""Planted bugs of bayesrl.beliefs.values.lstd_lambda."""

MODULE = "bayesrl.beliefs.values.lstd_lambda"
PLANTED = {
    "traces are carried over a reset": (
        "z = np.zeros_like(z) if fresh else z",
        "z = z",
        ["tests/beliefs/values/test_lstd.py::test_equal_to_the_batch_formula"],
    ),
    "traces decay without the discount": (
        "phi[t] + self.gamma * self.lam * z",
        "phi[t] + self.lam * z",
        ["tests/beliefs/values/test_lstd.py::test_equal_to_the_batch_formula"],
    ),
    "the Gram matrix counts the state after": (
        "gram += phi[: len(r)].T @ phi[: len(r)]",
        "gram += phi.T @ phi",
        ["tests/beliefs/values/test_lstd.py::test_posterior_by_the_formula"],
    ),
}
