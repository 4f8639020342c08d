"""Planted bugs of bayesrl.models.pomdp_solvers.pbvi."""

MODULE = "bayesrl.models.pomdp_solvers.pbvi"
PLANTED = {
    "no expansion": (
        "            if better(d, distance[i], 1.0):",
        "            if d > 2.0:",
        ["tests/models/pomdp_solvers/test_point_based.py::test_tiger_by_points"],
    ),
    "the nearest successor is added": (
        "            if better(d, distance[i], 1.0):",
        "            if d > NEAR and (distance[i] == 0.0 or d < distance[i]):",
        ["tests/models/pomdp_solvers/test_point_based.py::test_the_farthest_successor_is_added"],
    ),
    "new beliefs that are near each other": (
        "distance[j] = min(distance[j], np.abs(found[j] - found[i]).sum())",
        "distance[j] = distance[j] + 0.0",
        ["tests/models/pomdp_solvers/test_point_based.py::test_the_farthest_successor_is_added"],
    ),
    "a sweep is enough": (
        "while moved >= move and n < most:",
        "while n < 1:",
        ["tests/models/pomdp_solvers/test_point_based.py::test_fixed_point_on_given_beliefs"],
    ),
    "sets grow on after the budget": (
        "len(points) < self.size and n < self.sweeps",
        "len(points) < self.size",
        ["tests/models/test_spent_budgets.py::test_a_spent_budget_leaves_a_solution[pbvi]"],
    ),
}
