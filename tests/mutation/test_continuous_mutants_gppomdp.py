"""Planted bugs in hidden Gaussian-process trajectories; see test_mutants.py."""

import pytest

BELIEF, PATHS = "bayesrl.continuous.gp_pomdp", "bayesrl.continuous._trajectories"
GIVEN = "bayesrl.continuous._gp_pomdp_model"
SLICES, JOINT, PAIRS = (f"bayesrl.continuous.{name}" for name in ("_slices", "_log_joint", "_pairs"))
TESTS = "tests/continuous/test_gp_pomdp.py::"
SAME = [TESTS + "test_transcription"]
DENSE = [TESTS + "test_log_joint_equals_dense_normals"]
SLOPE = [TESTS + "test_gradient_equals_finite_differences"]
FACTORS = [TESTS + "test_factors_of_particles_equal_dense_normals"]
POSTERIOR = [TESTS + "test_slices_reach_the_posterior_of_the_grid"]
REWARDS = "tests/continuous/test_gp_pomdp_rewards.py::"
EARNED = [REWARDS + "test_weights_are_densities_of_observations_and_rewards"]
JOINED = [REWARDS + "test_log_joint_with_rewards[each its own]"]
KALMAN = [TESTS + "test_known_functions_give_kalmans_filter"]

MUTANTS = {
    # name: (module, old, new, tests)
    "the covariance of the trajectory before the move": (
        SLICES, "zip(sample[:-1], grown[:-1], strict=True)", "zip(sample[:1], grown[:1])",
        [TESTS + "test_moved_particles_keep_their_factors"]),
    "dynamics without noise": (
        PATHS, "for k in f.prior], axis=1) + f.noise", "for k in f.prior], axis=1) + 0.0 * f.noise", SAME),
    "joint without noise": (JOINT, "noise * np.eye", "1e-9 * np.eye", DENSE),
    "weight from the unconditional density": (
        PATHS, "w = (z - mean) / sd", "w = (z - self.model.see.mean(self.state)) / sd", SAME),
    "factors of the sensor not copied": (PATHS, "self.see.copy(sample.see[chosen]", "self.see.copy(sample.see", FACTORS),
    "factors of the dynamics not copied": (
        PATHS, "self.move.copy(sample.move[chosen]", "self.move.copy(sample.move", FACTORS),
    "states not copied": (PATHS, "sample.states[chosen]", "sample.states", FACTORS),
    "weights kept by resampling": (
        BELIEF, "systematic(weights, self.particles, rng), np.full(self.particles, 1.0 / self.particles)",
        "systematic(weights, self.particles, rng), weights", SAME),
    "never resampled": (BELIEF, "self.effective < self.resample", "self.effective < 0.0 * self.resample", SAME),
    "a step from the end of a sequence": (PATHS, "acted[self.first[1:] - 1] = False", "pass", DENSE),
    "sequences have their own functions": (
        PATHS, "        if sample is not None:\n", "        if sample is not None and history.running:\n", SAME),
    "sign of the gradient": (JOINT, "gradient[before] += in_inputs", "gradient[before] -= in_inputs", SLOPE),
    "half the gradient of a covariance": (JOINT, '2.0 * np.einsum("kl', 'np.einsum("kl', SLOPE),
    "gradient without the mean": (JOINT, "in_inputs[:, axis] += ", "in_inputs[:, axis] += 0.0 * ", SLOPE),
    "a shared factor counts once": (
        SLICES, "(D / L.shape[1])", "1.0", [TESTS + "test_one_covariance_serves_all_coordinates"]),
    "slope without the scale": (
        PAIRS, "(X[:, None] - Y) / np.square(k.scale)", "(X[:, None] - Y)", [TESTS + "test_pairs"]),
    "one start of the maximum": (JOINT, "for x in starts]", "for x in starts[1:2]]",
        [TESTS + "test_the_best_of_several_maxima"]),
    "bracket not shrunk": (
        SLICES, "low[active[side]], high[active[~side]] = t[active[side]], t[active[~side]]", "pass",
        [TESTS + "test_brackets_shrink"]),
    "bracket shrunk to the wrong side": (
        SLICES, "side = t[active] < 0.0", "side = t[active] > 0.0", [TESTS + "test_brackets_shrink"]),
    "a slice at the present likelihood": (SLICES, "np.log1p(-rng.random(len(e)))", "-0.1", POSTERIOR),
    "a chart without the density of its law": (SLICES, "+ 0.5 * np.sum(e * e, axis=(1, 2))", "", POSTERIOR),
    "innovations with the joint as likelihood": (
        SLICES, "return densities(self.model, sample)", "return joint_densities(self.model, self.history, sample)",
        POSTERIOR),
    "given states with drawn innovations": (
        PATHS, "w[:, :d] = e if drawn else (e - mean[:, :d]) / sd[:, :d]", "w[:, :d] = e",
        [TESTS + "test_moved_particles_keep_their_factors"]),
    "draws before the first observation": (
        BELIEF, 'given.seen_in(owner, self._model, "observation", z), rng)', "None, rng)", KALMAN),
    "a reward before the first observation": (
        BELIEF, "weights, _ = observed(walk, weights, z)", "observed(walk, weights, z)", KALMAN),
    "evidence of the last observation": (
        BELIEF, "self.log_probability + gained", "gained", [TESTS + "test_filter_equals_the_grid"]),
    "a reward that weighs nothing": (BELIEF, "weights, earned = weighed(", "_, earned = weighed(", EARNED),
    "evidence without rewards": (BELIEF, "gained + earned", "gained", EARNED),
    "a reward that its particle forgets": (PATHS, "w[:, d:] = (reward - mean[:, d:]) / sd[:, d:]", "pass", JOINED),
    "a reward with the first noise": (GIVEN, "reward), np.square(noise)", "reward), np.square(noise[::-1])", JOINED),
    "rewards one step late": (
        JOINT, "np.column_stack([data, history.rewards])", "np.column_stack([data, np.roll(history.rewards, 1)])", JOINED),
    "innovations without rewards": (
        SLICES, "return seen + _log_density(sample.move[:, -1:], sample.move_w[:, -1:]) if model.learns_reward else seen",
        "return seen", [REWARDS + "test_slices_with_rewards_keep_the_posterior[innovations]"]),
    "a sequence begins without what was paid": (
        BELIEF, "walk.begin(given.spread(", "walk = Walk(self._model, nothing_yet(0, 1), None, np.arange(self.particles), 1)"
        "; walk.begin(given.spread(", [REWARDS + "test_expected_rewards_of_hidden_states"]),
    "rewards of a file not counted": (
        SLICES, "history.rewards.shape != (len(history.actions) * model.learns_reward,)", "False",
        [REWARDS + "test_saved_and_pickled_beliefs_go_on_as_before"]),
}  # fmt: skip


@pytest.mark.parametrize("name", MUTANTS)
def test_planted_bug_is_caught(name, assert_caught):
    assert_caught(name, *MUTANTS[name])
