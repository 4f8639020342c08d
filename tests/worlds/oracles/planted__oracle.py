"""Planted bugs of bayesrl.worlds.oracles._oracle."""

MODULE = "bayesrl.worlds.oracles._oracle"
PLANTED = {
    "a question about the action costs nothing": (
        "(NOTHING, answer(now)), -self.cost, False)",
        "(NOTHING, answer(now)), 0.0, False)",
        ["tests/worlds/oracles/test_oracles.py::test_action_oracle"],
    ),
    "the oracle does not filter": (
        "Watched(after, tuple(belief.tolist()))",
        "Watched(after, now.belief)",
        ["tests/worlds/oracles/test_oracles.py::test_action_oracle"],
    ),
    "the oracle sees the state": (
        "Watched(after, tuple(belief.tolist()))",
        "Watched(after, tuple(np.eye(len(belief))[after].tolist()))",
        ["tests/worlds/oracles/test_oracles.py::test_action_oracle"],
    ),
}
