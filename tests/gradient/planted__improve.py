"""Planted bugs of bayesrl.gradient._improve."""

MODULE = "bayesrl.gradient._improve"
PLANTED = {
    "steps in the Fisher metric forget the root": (
        "norm = math.sqrt(max(float(d @ G @ d), 0.0))",
        "norm = max(float(d @ G @ d), 0.0)",
        ["tests/gradient/test_agents.py::test_lengths"],
    ),
    "the rate falls from the first update on": (
        "(rule.half_life + updates)",
        "(rule.half_life + updates + 1)",
        ["tests/gradient/test_agents.py::test_the_rate_falls_with_the_half_life"],
    ),
    "the covariance lengthens steps": (
        "rate * squared / total",
        "rate * total / squared",
        ["tests/gradient/test_agents.py::test_lengths"],
    ),
    "a line search ends at its last probe": (
        "step=low + (high - low) * up / (up - down), settled=True",
        "settled=True",
        ["tests/gradient/test_agents.py::test_conjugate_directions_climb_a_quadratic"],
    ),
}
