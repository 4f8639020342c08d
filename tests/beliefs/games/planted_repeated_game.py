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
    "counts that were kept are those of the belief before": (
        'depends_on_data=("urns",)',
        "depends_on_data=()",
        ["tests/beliefs/test_plumbing.py::test_what_is_asked_and_kept_changes_no_answer[repeated game]"],
    ),
}
