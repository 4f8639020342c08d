"""Planted bugs of bayesrl.gradient.actor_critic."""

MODULE = "bayesrl.gradient.actor_critic"
PLANTED = {
    "a truncated episode ends at its last reward": (
        "t + 1 == len(x)) for t",
        "t + 1 == len(rewards)) for t",
        ["tests/gradient/test_baselines.py::test_the_critic_solves_its_equations_written_out"],
    ),
}
