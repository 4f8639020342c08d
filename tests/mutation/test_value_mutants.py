"""Planted bugs in beliefs about values, and in control from them; see test_mutants.py."""

import pytest

GPTD, LSTD, GP = (f"tests/beliefs/test_{name}.py::" for name in ("gptd", "lstd", "gp_regression"))
CHOICE, SARSA, GPRL = (
    "tests/beliefs/test_kernel_selection.py::",
    "tests/value/test_gpsarsa.py::",
    "tests/value/test_gprl.py::",
)
PLOTS = "tests/lab/test_value_plots.py::"
DENSE = GPTD + "test_equal_to_dense_conditioning"
PARAMETRIC = GPTD + "test_parametric_is_gptd_with_the_covariance_of_its_features"
SPARSE = GPTD + "test_sparse_is_the_projected_model"
VALUES = "bayesrl.beliefs.values."

MUTANTS = {
    # name: (module, old, new, tests)
    "the continuing matrix at an end": (
        VALUES + "gptd", "after = np.append(variances, 0.0)[1 : rows + 1]",
        "after = np.append(variances, variances[-1:])[1 : rows + 1]", [DENSE]),
    "the row of an end has a successor": (
        VALUES + "gptd", "        if terminated:\n            weight", "        if False:\n            weight", [DENSE]),
    "the tie is dropped at an end": (
        VALUES + "gptd", "0.0 if fresh else self.tie(", "0.0 if fresh or terminated else self.tie(", [DENSE]),
    "a tie is carried over a reset": (
        VALUES + "_trajectory", "            tail = None\n            close(False, True)", "            close(False, True)",
        [DENSE]),
    "the tie has the wrong sign": (
        VALUES + "gptd", "        return -self.gamma * variance", "        return self.gamma * variance", [DENSE]),
    "ties inside a stretch are left out": (
        VALUES + "gptd", "beside = -self.gamma * variances[1:rows]", "beside = 0.0 * variances[1:rows]", [DENSE]),
    "noise of deterministic transitions is tied": (
        VALUES + "gptd_deterministic", "        return 0.0\n", "        return -self.gamma * variance\n", [DENSE]),
    "the variance for the standard deviation": (
        VALUES + "gptd", "deviations(owner, self.noise, states) ** 2", "deviations(owner, self.noise, states)", [DENSE]),
    "a quantile takes the variance for the standard deviation": (
        VALUES + "_gaussian", "deviation = np.sqrt(self.variance(states))", "deviation = self.variance(states)",
        [GPTD + "test_calibrated"]),
    "draws forget the covariance": (
        VALUES + "_gaussian", "root = vectors * np.sqrt(nonnegative(owner, values, self.prior_variances(states).sum()))",
        "root = np.diag(np.sqrt(np.diagonal(self.covariance(states))))",
        [GPTD + "test_joint_draws_have_the_posterior_moments"]),
    "the posterior covariance without its data": (
        VALUES + "_exact", "return np.asarray(K - U.T @ U)", "return K", [DENSE]),
    "a version writes into another": (
        VALUES + "_observations", "newest = buffer.points == p and buffer.data == n", "newest = True",
        [GPTD + "test_older_versions_stay_as_they_are"]),
    "the evidence forgets the pivots": (
        VALUES + "_observations", "(squares + columns * n * LOG_2_PI) - columns * log_pivots", "(squares + columns * n * LOG_2_PI)", [DENSE]),
    "a parametric tie is not used": (
        VALUES + "_recursion", "new[i] = total + e * p[i]", "new[i] = total", [PARAMETRIC]),
    "the parametric residual forgets the one before": (
        VALUES + "_recursion", "d = r[t] - expected + e * d", "d = r[t] - expected", [PARAMETRIC]),
    "a parametric tie crosses a reset": (
        VALUES + "_recursion", "    if fresh:\n        c[0] = 0.0\n", "", [PARAMETRIC]),
    "the first state is never offered to the dictionary": (
        VALUES + "_dictionary", "        start = 0\n", "        start = 1 if len(self) == 0 else 0\n", [SPARSE]),
    "coordinates of later visits miss a column": (
        VALUES + "_dictionary", "column[i:, 0] = (prior", "column[i : i + 1, 0] = (prior", [SPARSE]),
    "the sparse variance leaves out what the dictionary misses": (
        VALUES + "gptd_sparse", "return left_out + nonnegative", "return 0.0 * left_out + nonnegative", [SPARSE]),
    "traces are carried over a reset": (
        VALUES + "lstd_lambda", "z = np.zeros_like(z) if fresh else z", "z = z", [LSTD + "test_equal_to_the_batch_formula"]),
    "traces decay without the discount": (
        VALUES + "lstd_lambda", "phi[t] + self.gamma * self.lam * z", "phi[t] + self.lam * z",
        [LSTD + "test_equal_to_the_batch_formula"]),
    "the Gram matrix counts the state after": (
        VALUES + "lstd_lambda", "gram += phi[: len(r)].T @ phi[: len(r)]", "gram += phi.T @ phi",
        [LSTD + "test_posterior_by_the_formula"]),
    "linear regression keeps the prior's variance": (
        VALUES + "bayesian_linear_regression", "s * positive_solved(L, np.eye(k))", "positive_solved(L, np.eye(k))",
        [GP + "test_both_forms_of_linear_regression_agree"]),
    "a given noise covariance is not used": (
        VALUES + "gp_regression", "noise = self.noise**2 * np.eye(n) if S is None else S",
        "noise = self.noise**2 * np.eye(n)", [GP + "test_linear_statistical_model"]),
    "the evidence's slope has the wrong sign": (
        VALUES + "gp_regression", "np.outer(weight, weight) - inverse", "np.outer(weight, weight) + inverse",
        [GP + "test_fit_maximises_the_evidence"]),
    "an expectation forgets its shrinkage": (
        "bayesrl.beliefs.covariances", "self.variance * shrink[..., None] * np.exp", "self.variance * np.exp",
        [GP + "test_expectations_match_monte_carlo"]),
    "a double expectation counts the spread once": (
        "bayesrl.beliefs.covariances", "np.linalg.det(L + 2.0 * S)", "np.linalg.det(L + S)",
        [GP + "test_expectations_match_monte_carlo"]),
    "a direction's covariance divides by the bracket": (
        "bayesrl.beliefs.covariances", "0.5 * (1.0 - self.b) * (X @ Y.T - 1.0)", "0.5 * (1.0 - self.b) * (X @ Y.T + 1.0)",
        [GP + "test_covariances_by_hand"]),
    "candidates are scored without their prior weights": (
        VALUES + "kernel_selection", "np.log(np.where(start.weights > 0.0, start.weights, 1e-300)) + gained",
        "gained", [CHOICE + "test_weights_are_prior_times_evidence"]),
    "the mixture forgets the spread of its means": (
        VALUES + "kernel_selection", "return np.asarray(inside + (apart.T * self.weights) @ apart)", "return inside",
        [CHOICE + "test_weights_are_prior_times_evidence"]),
    "particles move without their prior": (
        VALUES + "kernel_selection", "other.log_evidence() - value.log_evidence() + prior",
        "prior - other.log_evidence() + value.log_evidence()", [CHOICE + "test_particles_agree_with_a_grid"]),
    "an open pair is closed twice": (
        "bayesrl.value.gpsarsa", "return Decision(action, Mind(belief, None, mind.episodes), info)",
        "return Decision(action, Mind(belief.restart(), mind.open, mind.episodes), info)",
        [SARSA + "test_pairs_are_the_rows_written_by_hand"]),
    "the next action is chosen after learning": (
        "bayesrl.value.gpsarsa", "            return Mind(belief, Open(pair, reward), mind.episodes)",
        "            return Mind(belief.update(Transition(pair, None, reward, pair, True)), None, 0)",
        [SARSA + "test_the_next_action_is_chosen_on_the_belief_as_it_stands"]),
    "rounding counts as a datum's variance": (
        VALUES + "_recursion", "if not s > least[t]:", "if not s > 0.0:",
        ["tests/value/test_refusals.py::test_data_that_others_determine_are_refused_without_noise"]),
    "terms of a row that cancel out count as its size": (
        VALUES + "_observations", "if not is_regular(factor, size, len(new)):",
        "if not is_regular(factor, np.diagonal(inner), len(new)):",
        ["tests/value/test_refusals.py::test_data_that_others_determine_are_refused_without_noise"]),
    "a discount of 1 is allowed without ends": (
        "bayesrl.value.gpsarsa", 'self.gamma == 1.0 and not may_end(world)', "False",
        ["tests/value/test_refusals.py::test_refused"]),
    "epsilon does not decay": (
        "bayesrl.value.gpsarsa", "rng.random() < self.epsilon * decay", "rng.random() < self.epsilon",
        [SARSA + "test_ways_to_choose"]),
    "optimism takes variances": (
        "bayesrl.value.gpsarsa", "self.bonus * np.sqrt(mind.belief.variance(pairs))", "-self.bonus * mind.belief.variance(pairs)",
        [SARSA + "test_ways_to_choose"]),
    "the reward of a certain next state": (
        "bayesrl.value.gprl", "R.append(reward.expectation(mean, spread,", "R.append(reward.expectation(mean, 0.0 * spread,",
        [GPRL + "test_expectations_match_monte_carlo"]),
    "the fit jumps to where data look like white noise": (
        "bayesrl.beliefs.values._evidence", "STRIDE = 2.0", "STRIDE = 100.0",
        [GP + "test_fit_does_not_stop_where_data_look_like_white_noise"]),
    "values are not discounted": (
        "bayesrl.value.gprl", "R + self.gamma * (W @", "R + (W @", [GPRL + "test_both_evaluations_agree"]),
    "a surface of variances": (
        "bayesrl.lab.plots.values", "np.sqrt(belief.variance(cells))", "belief.variance(cells)",
        [PLOTS + "test_the_surface_is_the_belief_at_the_middle_of_each_cell"]),
    "a band that leaves out both tails twice": (
        "bayesrl.lab.plots.values", "belief.quantile(0.5 - 0.5 * p, line)", "belief.quantile(1.0 - p, line)",
        [PLOTS + "test_bands_are_quantiles[mixture]"]),
}  # fmt: skip


@pytest.mark.parametrize("name", MUTANTS)
def test_mutant_is_caught(name, assert_caught):
    assert_caught(name, *MUTANTS[name])
