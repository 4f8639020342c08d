"""Planted bugs of bayesrl.beliefs.pomdp.finite_pomdps."""

MODULE = "bayesrl.beliefs.pomdp.finite_pomdps"
PLANTED = {
    "the evidence of models is not used": (
        "joint = self.log_joint + log_p",
        "joint = self.log_joint + 0.0 * np.maximum(log_p, -1e300)",
        ["tests/beliefs/pomdp/test_finite_pomdps.py::test_equals_the_sum_over_models_and_hidden_paths"],
    ),
    "restart forgets the weights": (
        "return unchecked(self, now=self._starts)",
        "return unchecked(self, now=self._starts, log_joint=np.log(np.asarray(self.weights)))",
        ["tests/beliefs/pomdp/test_finite_pomdps.py::test_equals_the_sum_over_models_and_hidden_paths"],
    ),
    "the end of an episode is no evidence": (
        "filtered_models(self.now, a, o, ended, self.tables)",
        "filtered_models(self.now, a, o, False, self.tables)",
        ["tests/beliefs/pomdp/test_finite_pomdps.py::test_equals_the_sum_over_models_and_hidden_paths"],
    ),
    "model and state are drawn independently": (
        "point[rng.choice(self.n_states, p=self.now[i])]",
        "point[rng.choice(self.n_states, p=self.states())]",
        ["tests/beliefs/pomdp/test_finite_pomdps.py::test_mean_and_drawn_models"],
    ),
}
