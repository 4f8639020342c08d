"""Planted bugs of bayesrl.beliefs.dynamics.gp_pomdp."""

MODULE = "bayesrl.beliefs.dynamics.gp_pomdp"
PLANTED = {
    "weights kept by resampling": (
        "systematic(weights, self.particles, rng), np.full(self.particles, 1.0 / self.particles)",
        "systematic(weights, self.particles, rng), weights",
        ["tests/beliefs/dynamics/test_gp_pomdp.py::test_transcription"],
    ),
    "never resampled": (
        "self.effective < self.resample",
        "self.effective < 0.0 * self.resample",
        ["tests/beliefs/dynamics/test_gp_pomdp.py::test_transcription"],
    ),
    "draws before the first observation": (
        'given.seen_in(owner, self._model, "observation", z), rng)',
        "None, rng)",
        ["tests/beliefs/dynamics/test_gp_pomdp.py::test_known_functions_give_kalmans_filter"],
    ),
    "a reward before the first observation": (
        "weights, _ = observed(walk, weights, z)",
        "observed(walk, weights, z)",
        ["tests/beliefs/dynamics/test_gp_pomdp.py::test_known_functions_give_kalmans_filter"],
    ),
    "evidence of the last observation": (
        "self.log_probability + gained",
        "gained",
        ["tests/beliefs/dynamics/test_gp_pomdp.py::test_filter_equals_the_grid"],
    ),
    "a reward that weighs nothing": (
        "weights, earned = weighed(",
        "_, earned = weighed(",
        ["tests/beliefs/dynamics/test_gp_pomdp_rewards.py::test_weights_are_densities_of_observations_and_rewards"],
    ),
    "evidence without rewards": (
        "gained + earned",
        "gained",
        ["tests/beliefs/dynamics/test_gp_pomdp_rewards.py::test_weights_are_densities_of_observations_and_rewards"],
    ),
    "a sequence begins without what was paid": (
        "walk.begin(given.spread(",
        "walk = Walk(self._model, nothing_yet(0, 1), None, np.arange(self.particles), 1); walk.begin(given.spread(",
        ["tests/beliefs/dynamics/test_gp_pomdp_rewards.py::test_expected_rewards_of_hidden_states"],
    ),
}
