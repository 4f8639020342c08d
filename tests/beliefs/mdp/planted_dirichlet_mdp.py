"""Planted bugs of bayesrl.beliefs.mdp.dirichlet_mdp."""

MODULE = "bayesrl.beliefs.mdp.dirichlet_mdp"
PLANTED = {
    "evidence counted twice": (
        "_ledger=self._ledger.append(g * self.outcomes.n_outcomes + k))",
        "_ledger=self._ledger.append(g * self.outcomes.n_outcomes + k).append(g * self.outcomes.n_outcomes + k))",
        ["tests/beliefs/test_laws.py::test_belief_laws[dirichlet-mdp]"],
    ),
    "wrong group when learning": (
        ("g = self.outcomes.group.item(s, a)\n        if self.known[g]:\n            return self"),
        ("g = self.outcomes.group.item(s, 0)\n        if self.known[g]:\n            return self"),
        ["tests/beliefs/test_laws.py::test_belief_laws[dirichlet-mdp]"],
    ),
    "a known row is learnt": (
        ("        if self.known[g]:\n            return self\n"),
        "",
        ["tests/beliefs/mdp/test_dirichlet.py"],
    ),
    "a sampled model is the mean": (
        "prob = dirichlet_rows(self.alpha, rng)",
        "prob = self.alpha / self.alpha.sum(axis=1, keepdims=True)",
        ["tests/beliefs/test_laws.py::test_belief_laws[dirichlet-mdp]"],
    ),
    "a later belief forgets that its counts were equal": (
        'Traits(depends_on_data=("_alpha",))',
        'Traits(depends_on_data=("_alpha", "even"))',
        ["tests/bamdp/sampling/test_boss.py::test_lists_are_the_models_they_stand_for"],
    ),
    "variance without the +1": (
        "variance /= total + 1.0",
        "variance /= total",
        ["tests/beliefs/mdp/test_dirichlet.py"],
    ),
    "alpha_0 for alpha_0 + 1": (
        "(p / (total + 1.0))[:, None, :]",
        "(p / total)[:, None, :]",
        ["tests/beliefs/mdp/test_row_covariance.py::test_of_a_dirichlet"],
    ),
    "a posterior is described as its prior": (
        " or self._prior.strides != (0, 0) or self.seen:",
        " or self._prior.strides != (0, 0):",
        ["tests/beliefs/test_plumbing.py::test_a_posterior_is_not_described_as_its_prior"],
    ),
}
