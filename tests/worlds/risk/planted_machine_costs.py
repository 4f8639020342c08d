"""Planted bugs of bayesrl.worlds.risk.machine_costs."""

MODULE = "bayesrl.worlds.risk.machine_costs"
PLANTED = {
    "deviations are read as variances": (
        'variance = second if self.second == "variance" else second**2',
        "variance = second",
        ["tests/worlds/risk/test_machine_costs.py::test_transitions_and_costs_by_hand"],
    ),
    "a repair goes on to the next state": (
        "P[s, 0, (s + 1) % S] = P[s, 1, 0] = 1.0",
        "P[s, 0, (s + 1) % S] = P[s, 1, (s + 1) % S] = 1.0",
        ["tests/worlds/risk/test_machine_costs.py::test_transitions_and_costs_by_hand"],
    ),
}
