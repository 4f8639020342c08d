"""Planted bugs of bayesrl.worlds.games.two_agent_chain."""

MODULE = "bayesrl.worlds.games.two_agent_chain"
PLANTED = {
    "a disagreement pays": (
        "R[:, a, a, 0], R[-1, a, a, -1]",
        "R[:, a, :, 0], R[-1, a, a, -1]",
        ["tests/worlds/games/test_game_worlds.py::test_two_agent_chain_by_hand"],
    ),
}
