"""Planted bugs of bayesrl.beliefs.games.finite_games."""

MODULE = "bayesrl.beliefs.games.finite_games"
PLANTED = {
    "strategies weigh the games": (
        "u = shares(u[n] * self._x[:, s[n], b].T)",
        "u = u[n]",
        ["tests/multiagent/test_bayesian_marl.py::test_finite_games_to_depth_three"],
    ),
    "games of other rewards are not excluded": (
        "self._P[:, s, a, o, y] * paid,",
        "self._P[:, s, a, o, y],",
        ["tests/multiagent/test_bayesian_marl.py::test_finite_games_to_depth_three"],
    ),
}
