"""Planted bugs of bayesrl.worlds.oracles.asking_for_state."""

MODULE = "bayesrl.worlds.oracles.asking_for_state"
PLANTED = {
    "the state before the step is told twice": (
        "said = (state, after) if ask",
        "said = (state, state) if ask",
        ["tests/worlds/oracles/test_oracles.py::test_state_oracle"],
    ),
    "a question about the state costs nothing": (
        "reward - self.cost * ask",
        "reward",
        ["tests/worlds/oracles/test_oracles.py::test_state_oracle"],
    ),
    "the oracle guesses": (
        "(state, after) if ask",
        "(0, 0) if ask",
        ["tests/worlds/test_hidden_state.py::test_the_hidden_state_is_recorded_if_asked_for"],
    ),
}
