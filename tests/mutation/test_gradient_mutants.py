"""Planted bugs in policy gradients; see test_mutants.py."""

import pytest

QUADRATURE, BPG, BAC, FISHER, BASELINES, AGENTS = (
    f"tests/gradient/test_{name}.py::" for name in ("quadrature", "bpg", "bac", "fisher", "baselines", "agents")
)
POLICY = "tests/models/test_policy.py::"

MUTANTS = {
    # name: (module, old, new, tests)
    "the temperature is missing in the score": (
        "bayesrl.models.policies.softmax_policy", "np.outer(phi, gap).ravel() / self.temperature", "np.outer(phi, gap).ravel()",
        [POLICY + "test_the_score_is_the_gradient_of_log_prob[temperature]"]),
    "the temperature is not squared in the Hessian": (
        "bayesrl.models.policies.softmax_policy", "-curved / self.temperature**2", "-curved / self.temperature",
        [POLICY + "test_the_hessian_is_the_derivative_of_the_score[temperature]"]),
    "the mixed derivatives of a Gaussian are halved": (
        "bayesrl.models.policies.gaussian_policy", "mixed = -2.0 *", "mixed = -1.0 *",
        [POLICY + "test_the_hessian_is_the_derivative_of_the_score[gaussian with sigma]"]),
    "the parameters of a table are numbered by action first": (
        "bayesrl.models.policies.softmax_policy", "cls(given.reshape(S, A), ", "cls(given.reshape(A, S).T, ",
        [POLICY + "test_parameters_of_a_table_are_numbered_by_state_and_action"]),
    "n instead of the rank in b_0": (
        "bayesrl.gradient._bpg", "1.0 + np.sum(X * X, axis=1), 1.0 + r", "1.0 + np.sum(X * X, axis=1), 2.0 + r",
        [BPG + "test_the_integrals_of_both_models"]),
    "the kernel of model 1 is not squared": (
        "bayesrl.gradient._bpg", "(1.0 + X @ X.T) ** 2, sigma", "1.0 + X @ X.T, sigma",
        [BPG + "test_equal_to_dense_conditioning[0.1-0.0-1-fewer than coordinates]"]),
    "crossed monomials are not doubled": (
        "bayesrl.gradient._bpg", "np.where(i == j, 1.0, np.sqrt(2.0))", "1.0",
        [BPG + "test_equal_to_dense_conditioning[0.1-0.0-1-more]"]),
    "the posterior covariance lacks its data term": (
        "bayesrl.gradient._bpg", "sigma**2 * inverse.T @ inverse", "np.eye(r)", [BPG + "test_model_2_is_calibrated"]),
    "the variance of model 1 lacks its data term": (
        "bayesrl.gradient._bpg", "left_out + sigma**2 * float(t @ t)", "b_0",
        [BPG + "test_equal_to_dense_conditioning[0.1-0.0-1-more]"]),
    "a variance is taken for a standard deviation": (
        "bayesrl.gradient._bpg", "A = K + sigma**2 * np.eye(len(K))", "A = K + sigma * np.eye(len(K))",
        [BPG + "test_the_published_bandit"]),
    "what the dictionary leaves out is not counted": (
        "bayesrl.gradient._bpg", "left_out = b_0 - float(beta @ beta)", "left_out = 0.0",
        [BPG + "test_sparse_is_the_projected_model[1]"]),
    "the offset is added": (
        "bayesrl.gradient._bpg", "return U, rho - prior, sigma", "return U, rho + prior, sigma",
        [BPG + "test_model_2_with_offset_is_below_the_baseline"]),
    "the natural gradient is divided by G twice": (
        "bayesrl.gradient._bpg", "frozen(self.root @ mean))", "frozen(self.root @ (self.root.T @ (self.root @ mean))))",
        [BPG + "test_equal_to_dense_conditioning[0.1-0.0-2-more]"]),
    "the Hessian forgets the curvature of the policy": (
        "bayesrl.gradient.bpg_hessian", " + np.tensordot(weights * y, second, 1)", "",
        [BPG + "test_the_exact_hessian_is_reached"]),
    "Newton steps go downhill where the Hessian is positive": (
        "bayesrl.gradient.bpg_hessian", "np.maximum(np.abs(values), damping)", "np.maximum(-values, damping)",
        [AGENTS + "test_a_newton_step_by_hand"]),
    "G of pairs is normalised": (
        "bayesrl.gradient._fisher", "(U * weight[:, None]).T @ U / len(paths)",
        "(U * weight[:, None]).T @ U / weight.sum()", [FISHER + "test_pairs_are_not_normalised"]),
    "the discount of pairs runs on over episodes": (
        "bayesrl.gradient._fisher",
        "weight = np.concatenate([gamma ** np.arange(len(path.scores)) for path in paths])",
        "weight = gamma ** np.arange(len(U))", [FISHER + "test_several_episodes_are_averaged"]),
    "paths are the sum of steps": (
        "bayesrl.gradient._fisher", 'if unit == "paths":', 'if unit == "never":',
        [FISHER + "test_paths_are_whole"]),
    "the model starts anywhere": (
        "bayesrl.gradient._fisher", "start[state(path.steps[0].observation)] += 1.0 / len(paths)",
        "start += 1.0 / S / len(paths)", [FISHER + "test_the_model_is_summed_exactly"]),
    "old information is never forgotten": (
        "bayesrl.gradient._fisher", "keep * self.weight + 1.0", "self.weight + 1.0",
        [FISHER + "test_a_running_mean_weighs_old_estimates_less"]),
    "the baseline is subtracted from scores": (
        "bayesrl.gradient.reinforce", "(rho - (rho.mean() if baseline else 0.0)) @ U / len(rho)",
        "rho @ (U - (U.mean(axis=0) + 1.0 if baseline else 0.0)) / len(rho)", [BASELINES + "test_reinforce_by_hand"]),
    "returns are not discounted": (
        "bayesrl.gradient._paths", "self.rewards @ gamma ** np.arange(len(self.rewards))", "self.rewards.sum()",
        [BASELINES + "test_estimates_are_unbiased"]),
    "a score counts one action less": (
        "bayesrl.gradient._learner", "path.scores.sum(axis=0) for path in paths",
        "path.scores[:-1].sum(axis=0) for path in paths", [BASELINES + "test_estimates_are_unbiased"]),
    "traces are carried over a reset": (
        "bayesrl.gradient.gpomdp", "        z = np.zeros_like(total)\n", "        z = locals().get('z', 0.0 * total)\n",
        [BASELINES + "test_gpomdp_by_hand"]),
    "a reward is credited to later actions": (
        "bayesrl.gradient.gpomdp", "total += gamma**t * r * z", "total += gamma**t * r * path.scores.sum(axis=0)",
        [BASELINES + "test_gpomdp_by_hand"]),
    "the critic continues at an end": (
        "bayesrl.gradient.bac", "        v, c = noise_of_rows(deviations(\"bac\", noise, states) ** 2, m, gamma, fresh=True)",
        "        v, c = noise_of_rows(np.full(m + 1, noise**2), m, gamma, fresh=True)",
        [BAC + "test_equal_to_dense_conditioning[0.99-discrete-terminated]"]),
    "the critic's noise is not tied": (
        "bayesrl.gradient.bac", "np.diag(v) - np.diag(c[1:], 1) - np.diag(c[1:], -1)", "np.diag(v)",
        [BAC + "test_calibrated[exact]"]),
    "the tie is carried over a reset": (
        "bayesrl.gradient.bac", "len(rewards), gamma, fresh=True)", "len(rewards), gamma, fresh=False)",
        [BAC + "test_threshold_zero_is_the_full_posterior[terminated]"]),
    "a truncated episode keeps its last reward": (
        "bayesrl.gradient._critic", "if path.terminated else len(path.rewards) - 1", "if True else 0",
        [BAC + "test_equal_to_dense_conditioning[0.99-discrete-truncated]"]),
    "the critic's covariance lacks its data term": (
        "bayesrl.gradient.bac", "np.eye(Q.shape[1]) - Q.T @ Q", "np.eye(Q.shape[1])", [BAC + "test_calibrated[exact]"]),
    "the sparse critic's covariance lacks what was left out": (
        "bayesrl.gradient.bac", "np.eye(T.shape[1]) - T.T @ T + T.T @ weights.P @ T", "T.T @ weights.P @ T",
        [BAC + "test_a_threshold_leaves_pairs_out"]),
    "values of states have no prior": (
        "bayesrl.gradient._critic", "return self.state.matrix(X[:, :d], Y[:, :d]) + self.score",
        "return self.score", [BAC + "test_equal_to_dense_conditioning[0.99-gaussian-terminated]"]),
    "scores of a batch are those of the next policy": (
        "bayesrl.gradient._learner", "policy=mind.policy if small else policy,",
        "policy=mind.policy if small else policy, paths=paths[:1],", [AGENTS + "test_an_update_by_hand[bpg-2]"]),
    "steps in the Fisher metric forget the root": (
        "bayesrl.gradient._improve", "norm = math.sqrt(max(float(d @ G @ d), 0.0))",
        "norm = max(float(d @ G @ d), 0.0)", [AGENTS + "test_lengths"]),
    "the rate falls from the first update on": (
        "bayesrl.gradient._improve", "(rule.half_life + updates)", "(rule.half_life + updates + 1)",
        [AGENTS + "test_the_rate_falls_with_the_half_life"]),
    "the covariance lengthens steps": (
        "bayesrl.gradient._improve", "rate * squared / total", "rate * total / squared", [AGENTS + "test_lengths"]),
    "a line search ends at its last probe": (
        "bayesrl.gradient._improve", "step=low + (high - low) * up / (up - down), settled=True", "settled=True",
        [AGENTS + "test_conjugate_directions_climb_a_quadratic"]),
    "the box is not divided by its width": (
        "bayesrl.gradient.bayesian_quadrature", "* scale / (self.high - self.low) * ends", "* scale * ends",
        [QUADRATURE + "test_integrals_of_the_covariance[uniform]"]),
    "quadrature forgets the prior mean": (
        "bayesrl.gradient.bayesian_quadrature", "float(f_0 + weights @ (y - f_0))", "float(weights @ y)",
        [QUADRATURE + "test_equal_to_dense_conditioning[0.4-1.5-gaussian]"]),
    "ellipses with the radius of one coordinate": (
        "bayesrl.lab.plots.gradients", "squared_radius = -2.0 * np.log1p(", "squared_radius = -np.log1p(",
        ["tests/lab/test_value_plots.py::test_ellipses_hold_their_share_of_the_posterior[pair0]"]),
    "an ellipse along the other axis": (
        "bayesrl.lab.plots.gradients", "np.arctan2(vectors[1, 0], vectors[0, 0])",
        "np.arctan2(vectors[0, 0], vectors[1, 0])",
        ["tests/lab/test_value_plots.py::test_ellipses_hold_their_share_of_the_posterior[pair0]"]),
}  # fmt: skip


@pytest.mark.parametrize("name", MUTANTS)
def test_mutant_is_caught(name, assert_caught):
    assert_caught(name, *MUTANTS[name])
