"""Planted bugs of bayesrl.worlds.games.climbing_game."""

MODULE = "bayesrl.worlds.games.climbing_game"
PLANTED = {
    "the lower right block of the climbing game": (
        "[-30.0, 7.0, 6.0], [0.0, 0.0, 5.0]",
        "[-30.0, 7.0, 0.0], [0.0, 6.0, 5.0]",
        ["tests/worlds/games/test_game_worlds.py::test_payoffs"],
    ),
}
