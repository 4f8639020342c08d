"""Planted bugs in Gaussian-process dynamics; see test_mutants.py."""

import pytest

GP, BLIMP = "tests/continuous/test_gp_dynamics.py::", "tests/continuous/test_blimp.py::"
DENSE = GP + "test_equal_to_dense_conditioning"
MOMENTS = GP + "test_moments_equal_quadrature"
ARRAYS = GP + "test_arrays_are_the_belief"
HERE = "bayesrl.beliefs.continuous."

MUTANTS = {
    # name: (module, old, new, tests)
    "moments without the trace": (
        HERE + "_gp_moments", "prior.variance - np.sum(U * U)]", "prior.variance]", [MOMENTS]),
    "moments by matrices without the trace": (
        HERE + "_gp_moments", "float(prior.variance - np.trace(Q))", "float(prior.variance)", [MOMENTS]),
    "moments without the noise": (
        HERE + "_gp_moments", "- np.sum(U * U)]), prior.variance) + noise**2", "- np.sum(U * U)]), prior.variance)",
        [MOMENTS]),
    "moments by matrices without the noise": (
        HERE + "_gp_moments", "(max(rest, 0.0) + noise**2) * np.eye", "max(rest, 0.0) * np.eye", [MOMENTS]),
    "moments with the square of the mean": (
        HERE + "_gp_moments", "Z[1:].T @ Z[1:]", "Z.T @ Z", [MOMENTS]),
    "moments by matrices with the square of the mean": (
        HERE + "_gp_moments", " - np.outer(mean, mean), cross", ", cross", [MOMENTS]),
    "an expansion without its second term": (
        HERE + "_gp_moments", "total - G[j, k] * np.sqrt(b[k])", "total - 0.0 * G[j, k] * np.sqrt(b[k])", [MOMENTS]),
    "an expansion that stops at the first degree": (
        HERE + "_gp_moments", "while small < 2 and r > 0:", "while len(made) <= r and r > 0:", [MOMENTS]),
    "outputs of different covariances are uncorrelated": (
        HERE + "_gp_moments", "groups[: i + 1]", "groups[: i + 1][-1:]", [MOMENTS + "[different-state-dense]"]),
    "the other output's scales are forgotten": (
        HERE + "_gp_moments", "squared_scales(other, len(S))", "squared_scales(prior, len(S))",
        [MOMENTS + "[different-state-dense]"]),
    "the input's covariance forgotten for mean=state": (
        HERE + "gp_dynamics", "V + S + C + C.T, C + S", "V + C + C.T, C + S", [MOMENTS]),
    "the covariance with the input counted once": (
        HERE + "gp_dynamics", "V + S + C + C.T, C + S", "V + S + C, C + S", [MOMENTS]),
    "the covariance with the input without the input's": (
        HERE + "gp_dynamics", "V + S + C + C.T, C + S", "V + S + C + C.T, C", [MOMENTS]),
    "noise added to the latent function": (
        HERE + "gp_dynamics", "left if latent else left + noise**2", "left + noise**2", [DENSE]),
    "noise missing from the predictive": (
        HERE + "gp_dynamics", "left if latent else left + noise**2", "left", [DENSE]),
    "the standard deviation for the variance of the noise": (
        HERE + "gp_dynamics", "noise**2 * np.eye(m)", "noise * np.eye(m)", [DENSE]),
    "the state is not added to its change": (
        HERE + "gp_dynamics", "mean[:, :d] + S * (self.mean == \"state\")", "mean[:, :d]", [DENSE]),
    "factors shared by different noises": (
        HERE + "_gp_moments", "one[1] == sd and (one[0]", "(one[0]", [DENSE + "[noises-state]"]),
    "the reward learned as a coordinate": (
        HERE + "gp_dynamics", "self._predicted(owner, S, a)[0][:, -1]", "self._predicted(owner, S, a)[0][:, 0]", [DENSE]),
    "draws with the variance for the deviation": (
        HERE + "gp_dynamics", "mean + np.sqrt(variance) * z)", "mean + variance * z)", [GP + "test_draws_and_rewards"]),
    "fresh functions at each step of a path": (
        HERE + "_gp_arrays", "predict(gp, n + t, path[t]", "predict(gp, n, path[t]",
        [GP + "test_paths_follow_one_function"]),
    "fresh functions at each step of a plain path": (
        HERE + "_gp_paths", "            now = now.update(", "            now.update(",
        [GP + "test_paths_follow_one_function"]),
    "a compiled prediction without noise": (
        HERE + "_gp_arrays", "max(left, 0.0) + gp.noise[g]", "max(left, 0.0)", [ARRAYS]),
    "a tree that learns in its last row only": (
        HERE + "_gp_arrays", "gp.w[p, n] = z[p]", "gp.w[p, -1] = z[p]", [ARRAYS]),
    "paths from the middle of an uncertain start": (
        HERE + "_gp_paths", "starts = starts + z[:, T] @", "starts = starts + 0.0 * z[:, T] @",
        [GP + "test_propagation"]),
    "the blimp pays for where it arrives": (
        "bayesrl.worlds.continuous.blimp", "(float(s[0]) / WIDTH)", "(float(new[0]) / WIDTH)",
        [BLIMP + "test_steps_by_hand"]),
    "the blimp's drag is forgotten": (
        "bayesrl.worlds.continuous.blimp", "1.0 - STEP * DRAG", "1.0", [BLIMP + "test_steps_by_hand"]),
    "a hidden blimp that is seen": (
        "bayesrl.worlds.continuous.blimp", "SENSOR * rng.standard_normal(1)", "0.0 * rng.standard_normal(1)",
        [BLIMP + "test_hidden_shows_a_noisy_height"]),
}  # fmt: skip


@pytest.mark.parametrize("name", MUTANTS)
def test_planted_bug_is_caught(name, assert_caught):
    assert_caught(name, *MUTANTS[name])
