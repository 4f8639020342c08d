"""Planted bugs of bayesrl.kernels.simulators.urn."""

MODULE = "bayesrl.kernels.simulators.urn"
PLANTED = {
    "a simulation remembers the one before": (
        "row.count, row.total = row.seen, row.mass + row.seen",
        "pass",
        ["tests/bamdp/search/test_bamcp.py::test_every_simulation_starts_from_the_belief_and_stops_at_the_end"],
    ),
    "draws add no balls": (
        ("        row.count = n + ONE\n        row.total += 1.0\n    return k"),
        "    return k",
        ["tests/bamdp/search/test_bamcp.py::test_urns_draw_like_a_model_drawn_once"],
    ),
    "every outcome leads to the state of its number": (
        "y = k if model.plain else model.succ[i, k]",
        "y = k",
        ["tests/bamdp/search/test_bfs3.py::test_bounds_bracket_the_exact_values[tied-8]"],
    ),
    "rollouts take the first of the best actions": (
        "(u - epsilon) * (M / (1.0 - epsilon))",
        "0.0",
        ["tests/bamdp/search/test_bamcp.py::test_rollouts_are_epsilon_greedy_with_ties_at_random"],
    ),
    "terminal ignored in the search": (
        "model.reward[i, k], model.terminal[y], g",
        "model.reward[i, k], False, g",
        ["tests/bamdp/search/test_bamcp.py::test_every_simulation_starts_from_the_belief_and_stops_at_the_end"],
    ),
}
