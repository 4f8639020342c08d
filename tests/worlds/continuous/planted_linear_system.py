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
    "systems in lockstep have the average reward of the one before": (
        'Traits(depends_on_data=("average_reward",))',
        "Traits()",
        ["tests/worlds/test_borders.py::test_a_batch_is_that_of_a_world_that_was_never_asked[lq]"],
    ),
}
