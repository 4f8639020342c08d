"""Planted bugs of bayesrl.beliefs.games.coalitions."""

MODULE = "bayesrl.beliefs.games.coalitions"
PLANTED = {
    "factored type beliefs": (
        "return unchecked(self, joint=frozen(weight / total))",
        (
            "new = unchecked(self, joint=frozen(weight / total))\n"
            "        rows = [new.marginal(i) for i in range(weight.ndim)]\n"
            "        return TypeBelief.independent(self.problem, rows)"
        ),
        ["tests/multiagent/test_coalition_formation.py::test_types_become_dependent"],
    ),
    "the payoff is not shared": (
        "share = self.rewards[None] / sizes[:, None, None]",
        "share = self.rewards[None] + 0.0 * sizes[:, None, None]",
        ["tests/multiagent/test_coalition_formation.py::test_values_equal_enumeration"],
    ),
}
