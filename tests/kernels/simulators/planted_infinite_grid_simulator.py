"""Planted bugs of bayesrl.kernels.simulators.infinite_grid_simulator."""

MODULE = "bayesrl.kernels.simulators.infinite_grid_simulator"
PLANTED = {
    "both coins of an empty cell may show heads": (
        "r = uniform(rng) * (1.0 - p * q)",
        "r = uniform(rng)",
        ["tests/beliefs/mdp/test_infinite_grid.py::test_posterior_matches_quadrature"],
    ),
    "the coins of an empty cell are independent": (
        "v = 1 if u == 0 and r < p * (1.0 - q) + (1.0 - p) * q else 0",
        "v = 1 if rng.random() < q else 0",
        ["tests/beliefs/mdp/test_infinite_grid.py::test_posterior_matches_quadrature"],
    ),
    "an empty cell says nothing of its column": (
        "m.n[column, coin] += 1.0",
        "m.n[column, coin] += 1.0 if what != EMPTY else 0.0",
        ["tests/beliefs/mdp/test_infinite_grid.py::test_posterior_matches_quadrature"],
    ),
    "a simulated coin is not remembered": (
        ("    m.n[slot, coin] += 1.0\n    return coin"),
        "    return coin",
        ["tests/beliefs/mdp/test_infinite_grid.py::test_coins_of_a_simulation_are_remembered_in_it"],
    ),
    "a simulated reward can be had twice": (
        ("        model.n[cell, 1] = 0.0\n        k = 1"),
        "        k = 1",
        ["tests/beliefs/mdp/test_infinite_grid.py::test_known_rewards_are_to_be_had_again_after_a_restart"],
    ),
    "a simulation's cells stay": (
        "m.used[slot] = m.noted[t, 1] != 0",
        "pass",
        ["tests/beliefs/mdp/test_infinite_grid.py::test_a_simulation_leaves_no_trace"],
    ),
    "a cell told to be empty shows two tails": (
        "u = 1.0 if k == 1 else p * (1.0 - q) / (1.0 - p * q)",
        "u = 1.0 if k == 1 else 0.0",
        ["tests/beliefs/mdp/test_infinite_grid.py::test_histories_are_replayed_and_taken_back"],
    ),
    "all simulations of a search see the same coins": (
        ("    else:\n        sweep(model, rng)"),
        "",
        ["tests/bamdp/search/test_infinite_grid.py::test_one_decision_gives_the_predictive"],
    ),
    "rollouts turn back": (
        "(a + 3 + int(uniform(rng) * 3)) % 4",
        "(a + 2 + int(uniform(rng) * 3)) % 4",
        ["tests/beliefs/mdp/test_infinite_grid.py::test_rollouts_do_not_turn_back"],
    ),
}
