"""Planted bugs of bayesrl.gradient._critic."""

MODULE = "bayesrl.gradient._critic"
PLANTED = {
    "a truncated episode keeps its last reward": (
        "if path.terminated else len(path.rewards) - 1",
        "if True else 0",
        ["tests/gradient/test_bac.py::test_equal_to_dense_conditioning[0.99-discrete-truncated]"],
    ),
    "values of states have no prior": (
        "return self.state.matrix(X[:, :d], Y[:, :d]) + self.score",
        "return self.score",
        ["tests/gradient/test_bac.py::test_equal_to_dense_conditioning[0.99-gaussian-terminated]"],
    ),
}
