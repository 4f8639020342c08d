"""Planted bugs in the two offline methods of §4.3; see test_mutants.py."""

import pytest

FSC, BEETLE = "bayesrl.bamdp.offline.finite_state_controller", "bayesrl.bamdp.offline.beetle"
PARAMETERS, PRIOR = "bayesrl.bamdp.offline._controller_parameters", "bayesrl.bamdp.offline._prior_models"
MONOMIALS = "bayesrl.bamdp.offline._monomials"
CONTROLLER, ALPHA = "tests/bamdp/test_finite_state_controller.py::", "tests/bamdp/test_beetle.py::"

MUTANTS = {
    # name: (module, old, new, tests)
    "a controller is valued in the mean model": (
        PRIOR, "stack(prior, *gauss_rule(prior, free, int(n ** (1.0 / max(len(free), 1)) + 1e-9)))",
        "stack(prior, [prior.mean_mdp()], np.ones(1))", [CONTROLLER + "test_value_is_not_that_of_the_mean_model"]),
    "the gradient forgets what later nodes are worth": (
        FSC, " + np.einsum(\"qsary,qsary->qsa\", later, eta)", "",
        [CONTROLLER + "test_gradient_equals_finite_differences"]),
    "the adjoint system is not transposed": (
        FSC, "first.ravel(), trans=0", "first.ravel(), trans=1",
        [CONTROLLER + "test_gradient_equals_finite_differences"]),
    "a model's edges are those of the wrong next state": (
        FSC, "P[i, s, a, y] * edge[q, s, a, r, y]", "P[i, s, a, y] * edge[q, s, a, r, s]",
        [CONTROLLER + "test_value_equals_dynamic_programming_over_hyper_states"]),
    "an edge is worth what the node it leaves is": (
        FSC, "P[i, s, a, y] * V[i, r, y]", "P[i, s, a, y] * V[i, q, y]",
        [CONTROLLER + "test_gradient_equals_finite_differences"]),
    "the planner's edges have their axes exchanged": (
        PARAMETERS, "np.ascontiguousarray(eta.swapaxes(-1, -2))", "eta.reshape(eta.swapaxes(-1, -2).shape)",
        [CONTROLLER + "test_value_equals_dynamic_programming_over_hyper_states"]),
    "a node is credited with the reward before it": (
        PARAMETERS, "(q, s, a, then, y), after / n", "(q, s, a, q, y), after / n",
        [CONTROLLER + "test_monte_carlo_gradient_is_unbiased"]),
    "the mean includes one's own life": (
        PARAMETERS, "(returns - returns.mean(axis=0)) * n / (n - 1)", "returns - returns.mean(axis=0)",
        [CONTROLLER + "test_monte_carlo_gradient_is_unbiased"]),
    "steps are taken that do not gain": (
        FSC, ".J < here.J + SUFFICIENT * step * promise", ".J < here.J - 1.0",
        [CONTROLLER + "test_ascent_never_falls"]),
    "the planner follows the edge into the wrong state": (
        FSC, "pick(self.eta[mind, s, a, y]", "pick(self.eta[mind, y, a, s]",
        [CONTROLLER + "test_edges_are_followed"]),
    "the node survives its episode": (
        FSC, "        if transition.ends_episode:\n            return 0\n", "", [CONTROLLER + "test_edges_are_followed"]),
    "the discount is forgotten in a backup": (
        BEETLE, "f = problem.gamma * alphas", "f = 1.0 * alphas",
        [ALPHA + "test_a_basis_that_spans_gives_exact_values"]),
    "a backup does not multiply by theta": (
        MONOMIALS, "(alpha[g, k] + m[:, None, k] + m[:, k])", "(alpha[g, k] + m[:, None, k])",
        [ALPHA + "test_a_basis_that_spans_gives_exact_values"]),
    "distances are measured under beliefs that have seen nothing": (
        MONOMIALS, " + np.tensordot(b[who, k], weight[who], 1)", "",
        [ALPHA + "test_what_is_listed_equals_what_is_written_out"]),
    "beliefs that have seen a row weigh as much as others": (
        MONOMIALS, "alpha[g].sum() + b.sum(axis=1)[:, None, None] + ", "alpha[g].sum() + ",
        [ALPHA + "test_stages_equal_a_naive_transcription"]),
    "distances are measured under the first belief alone": (
        MONOMIALS, "gram = joint.mean(axis=0)", "gram = joint[0]",
        [ALPHA + "test_what_is_listed_equals_what_is_written_out"]),
    "an outcome that was seen counts among the others too": (
        BEETLE, "        chance[k] = 0.0\n", "", [ALPHA + "test_what_is_listed_equals_what_is_written_out"]),
    "alpha-functions are chosen at the belief before the outcome": (
        BEETLE, "alphas.first[y + 1]], w)", "alphas.first[y + 1]], e * rows[a, k] / mass)",
        [ALPHA + "test_a_basis_that_spans_gives_exact_values"]),
    "outcomes not seen are worth what they are in rows not seen": (
        BEETLE, "v_g = np.dot(alphas.coefficient, e * mass / (mass + total))", "v_g = v",
        [ALPHA + "test_what_is_listed_equals_what_is_written_out"]),
    "a belief knows what others have seen": (
        BEETLE, "            if b == i:\n", "            if True:\n",
        [ALPHA + "test_what_is_listed_equals_what_is_written_out"]),
    "an urn forgets what it gave": (
        MONOMIALS, "(alpha[g, k] + t) / (mass + before[i])", "(alpha[g, k] + t) / (mass + t)",
        [ALPHA + "test_moments_against_quadrature"]),
    "an urn remembers another row": (
        MONOMIALS, "            before[:] = 0\n", "", [ALPHA + "test_moments_against_quadrature"]),
    "a backup that the projection spoils is kept": (
        BEETLE, "problem.terminal[s] or better(v_old, np.dot(c[m], points.moment[i]))", "False",
        [ALPHA + "test_stages_equal_a_naive_transcription"]),
    "points no worse than before are backed up all the same": (
        BEETLE, "if not better(v_old, v_new[s, i]):", "if False:", [ALPHA + "test_stages_equal_a_naive_transcription"]),
    "the planner takes the worst action": (
        BEETLE, "best_action(q, ", "best_action(-q, ", [ALPHA + "test_the_arm_is_left_for_a_better_wage"]),
}  # fmt: skip


@pytest.mark.parametrize("name", MUTANTS)
def test_mutant_is_caught(name, assert_caught):
    assert_caught(name, *MUTANTS[name])
