"""Planted bugs of bayesrl.worlds.continuous._linear."""

MODULE = "bayesrl.worlds.continuous._linear"
PLANTED = {
    "the cost of the state after the step": (
        "cost = ((x @ self.Q) * x)",
        "cost = ((new @ self.Q) * new)",
        ["tests/worlds/test_linear_worlds.py::test_steps"],
    ),
    "noise without its correlation": (
        "E @ self._spread.T",
        "E @ self.noise",
        ["tests/worlds/test_linear_worlds.py::test_steps"],
    ),
}
