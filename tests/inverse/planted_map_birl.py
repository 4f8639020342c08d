"""Planted bugs of bayesrl.inverse.map_birl."""

MODULE = "bayesrl.inverse.map_birl"
PLANTED = {
    "an old policy's map is used where it is not optimal": (
        "            if not worse.any():\n",
        "            if True:\n",
        ["tests/inverse/test_map_birl.py::test_values_and_gradients_equal_finite_differences"],
    ),
    "the gradient forgets later rewards": (
        " + after @ self.values(pi))",
        " + 0.0 * (after @ self.values(pi)))",
        ["tests/inverse/test_map_birl.py::test_values_and_gradients_equal_finite_differences"],
    ),
    "the gradient forgets the prior": (
        "return value, self.reward_prior.gradient(w) + self.maps",
        "return value, self.maps",
        ["tests/inverse/test_map_birl.py::test_values_and_gradients_equal_finite_differences"],
    ),
    "a finite prior's probabilities are not used": (
        "return prior if prior == -np.inf else prior + log",
        "return prior if prior == -np.inf else log",
        ["tests/inverse/test_map_birl.py::test_finite_prior"],
    ),
    "the worst start is kept": (
        "np.array([trace[-1] for",
        "-np.array([trace[-1] for",
        ["tests/inverse/test_map_birl.py::test_restarts_leave_local_maxima"],
    ),
    "maps are never kept": (
        "            self.kept[key] = X\n",
        "            self.kept = {key: X}\n",
        ["tests/inverse/test_map_birl.py::test_maps_are_kept_and_used_while_their_policy_is_optimal"],
    ),
}
