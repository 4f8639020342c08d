"""Planted bugs of bayesrl.kernels.simulators.partition_urn."""

MODULE = "bayesrl.kernels.simulators.partition_urn"
PLANTED = {
    "clusters that share all actions": (
        "if model.path[i, 1] == a and z",
        "if z",
        ["tests/beliefs/dynamics/test_crp_dynamics.py::test_bamcp_finds_the_values_of_exact_expectimax"],
    ),
    "a simulation that learns nothing": (
        "            row[model.path[i, 2]] += 1.0",
        "            pass",
        ["tests/beliefs/dynamics/test_crp_dynamics.py::test_simulated_steps_follow_the_predictive"],
    ),
    "a new clustering at every simulated step": (
        "if now[DRAWN] < 0:",
        "if True:",
        ["tests/beliefs/dynamics/test_crp_dynamics.py::test_simulated_steps_follow_the_predictive"],
    ),
    "replayed outcomes that weigh nothing": (
        "            p *= _chance(model, c, s, a, k)",
        "            p *= 1.0",
        ["tests/beliefs/dynamics/test_crp_dynamics.py::test_simulated_steps_follow_the_predictive"],
    ),
}
