"""Planted bugs of bayesrl.beliefs.games.repeated_game."""

MODULE = "bayesrl.beliefs.games.repeated_game"
PLANTED = {
    "a payoff is counted for the transposed joint action": (
        "added(getattr(self, name), (a, o))",
        "added(getattr(self, name), (o, a))",
        ["tests/multiagent/test_bayesian_marl.py::test_beliefs_count_what_was_seen"],
    ),
    "a payoff of one is counted as zero": (
        '"alpha" if r == 1.0 else "beta"',
        '"beta" if r == 1.0 else "alpha"',
        ["tests/multiagent/test_bayesian_marl.py::test_beliefs_count_what_was_seen"],
    ),
}
