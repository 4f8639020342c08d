"""Planted bugs of bayesrl.worlds.continuous.linear_system."""

MODULE = "bayesrl.worlds.continuous.linear_system"
PLANTED = {
    "the cost of the state after the step": (
        "cost = ((x @ self.Q) * x)",
        "cost = ((new @ self.Q) * new)",
        ["tests/worlds/continuous/test_linear_worlds.py::test_steps"],
    ),
    "noise without its correlation": (
        "E @ self._spread.T",
        "E @ self.noise",
        ["tests/worlds/continuous/test_linear_worlds.py::test_steps"],
    ),
}
