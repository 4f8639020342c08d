"""Planted bugs of bayesrl.bamdp.baselines.epsilon_greedy."""

MODULE = "bayesrl.bamdp.baselines.epsilon_greedy"
PLANTED = {
    "epsilon upside down": (
        "rng.random() < self.epsilon",
        "rng.random() > self.epsilon",
        ["tests/bamdp/test_planners.py::test_epsilon_greedy_frequencies"],
    ),
}
