"""Planted bugs of bayesrl.worlds.oracles.asking_for_confirmation."""

MODULE = "bayesrl.worlds.oracles.asking_for_confirmation"
PLANTED = {
    "a confirmation about another action": (
        "asked = a - self.inside.n_actions",
        "asked = a - self.inside.n_actions - 1",
        ["tests/worlds/oracles/test_oracles.py::test_confirming_oracle"],
    ),
}
