"""Planted bugs of bayesrl.multiagent.run_game."""

MODULE = "bayesrl.multiagent.run_game"
PLANTED = {
    "the second player's action comes second": (
        "((a, b), (b, a))",
        "((a, b), (a, b))",
        ["tests/multiagent/test_bayesian_marl.py::test_two_players_see_each_other"],
    ),
    "the second player is paid as the first": (
        "rules.rewards(1))",
        "rules.rewards(0))",
        ["tests/multiagent/test_bayesian_marl.py::test_two_players_see_each_other"],
    ),
}
