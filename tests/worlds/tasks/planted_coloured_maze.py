"""Planted bugs of bayesrl.worlds.tasks.coloured_maze."""

MODULE = "bayesrl.worlds.tasks.coloured_maze"
PLANTED = {
    "every task of a maze has the weights of its class": (
        "rng.normal(means[labels], self.class_deviation)",
        "means[labels]",
        ["tests/worlds/tasks/test_task_worlds.py::test_weights_have_their_law"],
    ),
}
