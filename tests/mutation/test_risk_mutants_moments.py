"""Planted bugs in moments and draws of a policy's value; see test_mutants.py."""

import pytest

MOMENTS, DRAWS = "bayesrl.risk._moments", "bayesrl.risk._dirichlet_values"
NAIVE = "tests/risk/test_value_moments.py::test_naive_transcription"
SAMPLES = "tests/risk/test_value_samples.py::"
COVARIANCE = "tests/beliefs/test_row_covariance.py::test_of_a_dirichlet"
SAME = SAMPLES + "test_equal_to_solving_the_models_that_are_drawn[known0]"
TIED, FREE = NAIVE + "[tied]", NAIVE + "[one group for each pair]"

MUTANTS = {
    # name: (module, old, new, tests)
    "mu for its square": (MOMENTS, "ww = i // A, j // A, w[i] * w[j]", "ww = i // A, j // A, w[i]", [FREE]),
    "ties are forgotten": (
        MOMENTS, "first, second = couples(np.where(unknown, o.group, -1).ravel())",
        "first = second = np.flatnonzero(unknown)", [TIED]),
    "B is dropped": (
        MOMENTS, "(X[m.succ[i], y[:, None]] * h[j])",
        "(X[m.succ[i], y[:, None]] * np.einsum('nkl,nl->nk', m.covariance, q - m.reward)[j])", [FREE]),
    "rewards of outcomes do not add to the covariance": (
        MOMENTS, "(q[i] * h[j])", "((q - m.reward)[i] * h[j])", [FREE]),
    "unknown rewards weigh by mu": (
        MOMENTS, "(w**2 * m.reward_covariance)", "(w * m.reward_covariance)", [NAIVE + "_with_unknown_rewards"]),
    "rewards of outcomes weigh by p": (
        MOMENTS, "o.of_pairs(mean.prob) ** 2", "o.of_pairs(mean.prob)", [NAIVE + "_with_unknown_rewards"]),
    "rewards of pairs are independent": (
        MOMENTS, "C += (np.outer(w, w) * m.reward_covariance)", "C += (np.diag(w**2) * m.reward_covariance)",
        [NAIVE + "_with_unknown_rewards"]),
    "the bias is not discounted": (
        "bayesrl.risk.value_moments", "V + m.gamma * X @ b", "V + X @ b", [FREE]),
    "one tail of the interval": (
        "bayesrl.risk.value_moments", "ndtri(0.5 + 0.5 * level)", "ndtri(level)",
        [SAMPLES + "test_moments_interval_covers_at_its_rate"]),
    "the variance for the deviation": (
        "bayesrl.risk.value_moments", "math.sqrt(variance)", "variance",
        [SAMPLES + "test_moments_interval_covers_at_its_rate"]),
    "alpha_0 for alpha_0 + 1": (
        "bayesrl.beliefs.tabular.dirichlet_mdp", "(p / (total + 1.0))[:, None, :]", "(p / total)[:, None, :]", [COVARIANCE]),
    "known groups vary together": (
        "bayesrl.beliefs.tabular._known_rewards", "        covariance[known] = 0.0", "        pass", [COVARIANCE]),
    "two unseen outcomes are in the support independently": (
        "bayesrl.beliefs.tabular.sparse_dirichlet", "np.maximum(x.sizes - k0 - i, 0) / np.maximum(L - k0 - i, 1)",
        "np.maximum(x.sizes - k0, 0) / np.maximum(L - k0, 1)",
        ["tests/beliefs/test_sparse_dirichlet.py::test_covariance_against_enumerated_supports[seen1]"]),
    "a gamma variate of another shape": (
        DRAWS, "np.where(a < 1.0, a + 1.0, a) - 1.0 / 3.0", "np.where(a < 1.0, a + 1.0, a)",
        [SAMPLES + "test_drawn_rows_are_dirichlet[counts3]"]),
    "small counts are drawn as larger ones": (
        DRAWS, "np.where(a < 1.0, 1.0 / a, 0.0)", "np.where(a < 1.0, 1.0, 0.0)",
        [SAMPLES + "test_drawn_rows_are_dirichlet[counts1]"]),
    "every proposal is accepted": (
        DRAWS, "0.5 * x * x + d * (1.0 - v + math.log(v))", "1e9", [SAMPLES + "test_drawn_rows_are_dirichlet[counts3]"]),
    "actions are not weighed": (
        "bayesrl.risk._samples", "p = weight[e] * table[cell[e]]", "p = table[cell[e]]", [SAME]),
    "known rows are drawn": (
        DRAWS, "rows = np.flatnonzero(~belief.known & (o.size > 1))", "rows = np.flatnonzero(o.size > 1)",
        [SAMPLES + "test_equal_to_solving_the_models_that_are_drawn[known1]"]),
}  # fmt: skip


@pytest.mark.parametrize("name", MUTANTS)
def test_mutant_is_caught(name, assert_caught):
    assert_caught(name, *MUTANTS[name])
