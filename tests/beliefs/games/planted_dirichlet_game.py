"""Planted bugs of bayesrl.beliefs.games.dirichlet_game."""

MODULE = "bayesrl.beliefs.games.dirichlet_game"
PLANTED = {
    "the other's actions depend on the present joint action": (
        "(s, self.last + 1, o) if",
        "(s, a * self.n_others + o + 1, o) if",
        [
            "tests/beliefs/games/test_stochastic_games.py::test_the_last_joint_action_is_forgotten_at_the_end_of_an_episode"
        ],
    ),
    "an episode's last joint action is kept": (
        "return unchecked(self, last=-1)",
        "return self",
        [
            "tests/beliefs/games/test_stochastic_games.py::test_the_last_joint_action_is_forgotten_at_the_end_of_an_episode"
        ],
    ),
}
