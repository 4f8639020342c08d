"""Planted bugs of bayesrl.worlds.tasks.highway."""

MODULE = "bayesrl.worlds.tasks.highway"
PLANTED = {
    "two cars arrive at once": (
        "np.delete(1.0 - drawn, i, axis=1).prod(axis=1)",
        "1.0",
        ["tests/worlds/tasks/test_highway.py::test_moves_by_hand"],
    ),
    "cars move by the new speed": (
        "moved = road + speed[:, None] + 1",
        "moved = road + new_speed[:, None] + 1",
        ["tests/worlds/tasks/test_highway.py::test_values_of_the_facts"],
    ),
}
