"""Planted bugs in the values of several tasks, their classes and their policies; see test_mutants.py."""

import pytest

EM, DP, PI = (
    f"tests/multitask/test_{name}.py::" for name in ("multitask_gptd", "multitask_gptd_dp", "policy_iteration")
)
TASKS = "bayesrl.multitask."
SAME = EM + "test_equal_to_a_transcription"
DENSE = EM + "test_posteriors_of_tasks_and_of_a_further_one"
LISTED = DP + "test_equal_to_enumerated_partitions[15 partitions]"
FURTHER = DP + "test_transfer_is_the_mixture_over_enumerated_partitions[c known]"

MUTANTS = {
    # name: (module, old, new, tests)
    "the covariances C_m are forgotten in Sigma": (
        TASKS + "multitask_gptd", "np.outer(mu, mu) + found.C.sum(axis=0) + off.T @ off", "np.outer(mu, mu) + off.T @ off",
        [SAME]),
    "the noise is taken as a variance": (
        TASKS + "_value_tasks", "np.linalg.qr(rows / noise.sigma", "np.linalg.qr(rows / np.sqrt(noise.sigma)", [SAME]),
    "the degrees of the marginal": (
        TASKS + "multitask_gptd", "/ (nu + d + 2.0 + M)", "/ (nu + d + 1.0 + M)", [SAME]),
    "the spread of the mean is forgotten": (
        TASKS + "multitask_gptd", "Psi + kappa * np.outer(mu, mu) + found.C", "Psi + found.C", [SAME]),
    "the trace without the prior": (
        TASKS + "multitask_gptd", "trace.append(float(log_prior(base, mu, Sigma) + ", "trace.append(float(",
        [EM + "test_the_trace_is_the_objective_and_never_falls"]),
    "the prior without the factor of the mean": (
        TASKS + "multitask_gptd", "- 0.5 * (nu + d + 2.0) * log_det - 0.5 * spread",
        "- 0.5 * (nu + d + 1.0) * log_det - 0.5 * spread", [EM + "test_the_trace_is_the_objective_and_never_falls"]),
    "the determinant of the evidence is forgotten": (
        TASKS + "_value_tasks", "constant - log_det - 0.5 * (", "constant - 0.5 * (", [DENSE]),
    "coloured noise without a tie": (
        TASKS + "_value_tasks", "np.eye(n, n + 1) - self.gamma * np.eye(n, n + 1, 1)", "np.eye(n, n + 1)",
        [EM + "test_coloured_noise"]),
    "a visit that goes on is counted twice": (
        TASKS + "_value_tasks", "free -= 1  # the visit", "free -= 0  # the visit",
        [EM + "test_one_task_with_a_fixed_prior_is_parametric_gptd"]),
    "an ended episode goes on": (
        TASKS + "_value_tasks", "0.0 if x.terminated else 1.0", "1.0", [EM + "test_matrices_of_a_log"]),
    "a task counts itself in its class": (
        TASKS + "_class_sampler", "weight = x.size[k]\n            if weight == 0.0 and not new_one:",
        "weight = x.size[k] + (x.z[m] == k)\n            if weight == 0.0 and not new_one:", [LISTED]),
    "a task is not removed from its class": (
        TASKS + "_class_sampler", "own = x.z[m]\n        x.size[own] -= 1.0", "own = x.z[m]\n        x.size[own] -= 0.0",
        [LISTED]),
    "a task's weights vote for their own class": (
        TASKS + "_class_sampler", "n = learned(p, w, z, k, m, mean, scatter)", "n = learned(p, w, z, k, len(z), mean, scatter)",
        [LISTED]),
    "each auxiliary class has the whole concentration": (
        TASKS + "_class_sampler",
        "p.Psi, x.mu[k], x.S[k])\n                    weight = c / p.a", "p.Psi, x.mu[k], x.S[k])\n                    weight = c",
        [LISTED]),
    "a merge with the unknown concentration of a split": (
        TASKS + "_class_sampler", "p.c[in_use(x) - (one != other)]", "p.c[in_use(x)]",
        [DP + "test_equal_to_enumerated_partitions[c unknown]"]),
    "a split forgets how it was proposed": (
        TASKS + "_class_sampler", "- log_whole - log_q", "- log_whole", [DP + "test_splits_and_merges_alone_keep_the_law_of_partitions"]),
    "Bartlett's degrees do not fall": (
        TASKS + "_triangles", "0.5 * (nu - i)", "0.5 * nu", [DP + "test_draws_of_the_base"]),
    "the mean is drawn with the covariance of a task": (
        TASKS + "_triangles", "rng.standard_normal() / sqrt(kappa)", "rng.standard_normal()", [LISTED]),
    "a further task joins old classes only": (
        TASKS + "multitask_gptd_dp", "np.append(np.bincount(z), new)", "np.append(np.bincount(z), 1e-9)",
        [FURTHER]),
    "classes of equal weight": (
        TASKS + "multitask_gptd_dp", "np.append(np.bincount(z), new)",
        "np.append(np.bincount(z) > 0, new)", [FURTHER]),
    "evaluation of the uniform policy in every round": (
        TASKS + "_policy_iteration", "if m >= len(at.weights) or not at.rounds:", "if True:",
        [PI + "test_complete_logs_of_deterministic_tasks_give_the_optimal_policies"]),
}  # fmt: skip


@pytest.mark.parametrize("name", MUTANTS)
def test_mutant_is_caught(name, assert_caught):
    assert_caught(name, *MUTANTS[name])
