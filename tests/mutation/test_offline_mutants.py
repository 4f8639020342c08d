"""Planted bugs in the two offline methods of §4.3; see test_mutants.py."""

import pytest

FSC, BEETLE = "bayesrl.bamdp.finite_state_controller", "bayesrl.bamdp.beetle"
CONTROLLER, ALPHA = "tests/bamdp/test_finite_state_controller.py::", "tests/bamdp/test_beetle.py::"

MUTANTS = {
    # name: (module, old, new, tests)
    "a controller is valued in the mean model": (
        FSC, "stack(prior, *gauss(prior, free, int(n ** (1.0 / max(len(free), 1)) + 1e-9)))",
        "stack(prior, [prior.mean_mdp()], np.ones(1))", [CONTROLLER + "test_value_is_not_that_of_the_mean_model"]),
    "the gradient forgets what later nodes are worth": (
        FSC, "np.einsum(\"nqs,nsa->qsa\", d, models.r) + (later * eta).sum(axis=(-2, -1))",
        "np.einsum(\"nqs,nsa->qsa\", d, models.r)", [CONTROLLER + "test_gradient_equals_finite_differences"]),
    "the adjoint system is not transposed": (
        FSC, "M.transpose(0, 2, 1)", "M", [CONTROLLER + "test_gradient_equals_finite_differences"]),
    "a node is credited with the reward before it": (
        FSC, "scores(eta, (q, s, a, y, then), after / n)", "scores(eta, (q, s, a, y, q), after / n)",
        [CONTROLLER + "test_monte_carlo_gradient_is_unbiased"]),
    "the mean includes one's own life": (
        FSC, "(returns - returns.mean(axis=0)) * n / (n - 1)", "returns - returns.mean(axis=0)",
        [CONTROLLER + "test_monte_carlo_gradient_is_unbiased"]),
    "steps are taken that do not gain": (
        FSC, "[0] < J + SUFFICIENT * step * slope.squared()", "[0] < J - 1.0",
        [CONTROLLER + "test_ascent_never_falls"]),
    "the planner follows the edge into the wrong state": (
        FSC, "[q, last.state, last.action, last.next_state]", "[q, last.next_state, last.action, last.state]",
        [CONTROLLER + "test_edges_are_followed"]),
    "the node survives its episode": (
        FSC, "q = 0 if last.ends_episode else pick", "q = pick", [CONTROLLER + "test_edges_are_followed"]),
    "the discount is forgotten in a backup": (
        BEETLE, "f[:, k] = problem.gamma * alphas", "f[:, k] = alphas",
        [ALPHA + "test_a_basis_that_spans_gives_exact_values"]),
    "a backup does not multiply by theta": (
        BEETLE, "(problem.alpha[g, k] + basis.exponent[i, g, k] + basis.exponent[j, g, k])",
        "(problem.alpha[g, k] + basis.exponent[i, g, k])", [ALPHA + "test_a_basis_that_spans_gives_exact_values"]),
    "alpha-functions are chosen at the belief before the outcome": (
        BEETLE, "v = np.dot(alphas.coefficient[alphas.first[y] : alphas.first[y + 1]], w)",
        "v = np.dot(alphas.coefficient[alphas.first[y] : alphas.first[y + 1]], e * alpha[g, k] / mass)",
        [ALPHA + "test_a_basis_that_spans_gives_exact_values"]),
    "padding counts in a moment": (
        BEETLE, "np.where(unknown, alpha, 0.0).sum(axis=-1)", "np.where(unknown, alpha, 1.0).sum(axis=-1)",
        [ALPHA + "test_moments_against_quadrature"]),
    "a backup that the projection spoils is kept": (
        BEETLE, "problem.terminal[s] or np.dot(c[m], points.moment[i]) < v_old[s, i]", "False",
        [ALPHA + "test_stages_equal_a_naive_transcription"]),
    "points no worse than before are backed up all the same": (
        BEETLE, "if v_new[s, i] >= v_old[s, i]:", "if False:", [ALPHA + "test_stages_equal_a_naive_transcription"]),
    "the planner takes the worst action": (
        BEETLE, "best_action(q, ", "best_action(-q, ", [ALPHA + "test_the_arm_is_left_for_a_better_wage"]),
}  # fmt: skip


@pytest.mark.parametrize("name", MUTANTS)
def test_mutant_is_caught(name, assert_caught):
    assert_caught(name, *MUTANTS[name])
