"""Planted bugs in the percentile of a policy's return and its guarantee; see test_mutants.py."""

import pytest

TEST = "tests/risk/test_percentile.py::"
SOLVER, GRADIENT, LIMIT = (f"bayesrl.risk.{name}" for name in ("percentile", "_second_order", "_guarantee"))
SLOPES = TEST + "test_gradient_equals_finite_differences[tied-1.3]"

MUTANTS = {
    # name: (module, old, new, tests)
    "the percentile from the wrong end": (
        SOLVER, "quantile=float(np.quantile(returns, self.epsilon))", "quantile=float(np.quantile(returns, 1.0 - self.epsilon))",
        [TEST + "test_percentiles_are_those_of_the_policies"]),
    "the order statistic is one too high": (
        LIMIT, "np.partition(returns, k - 1)[k - 1]", "np.partition(returns, k)[k]",
        [TEST + "test_guarantee_is_the_order_statistic"]),
    "the order statistic has too little confidence": (
        LIMIT, "if at_least(middle, n, epsilon) >= confidence else", "if at_least(middle, n, epsilon) >= 0.5 else",
        [TEST + "test_guarantee_is_the_order_statistic"]),
    "mu for mu squared in the gradient": (
        GRADIENT, "w_i * w_j * (d_b * back", "w_i * (d_b * back", [SLOPES]),
    "one side of a couple has no derivative": (
        GRADIENT, " + summed(j, w[i] * each, S * A)", "", [SLOPES]),
    "the way back to a pair is held fixed": (
        GRADIENT, "(w_i * w_j * d_b * h[j]).ravel()", "(0.0 * w_i * w_j * d_b * h[j]).ravel()", [SLOPES]),
    "visits are held fixed": (
        GRADIENT, "np.outer(m.start, m.gamma * b + 2.0 * d_D * (C @ o))", "np.outer(m.start, 2.0 * d_D * (C @ o))", [SLOPES]),
    "the bias is not discounted": (
        GRADIENT, "m.start @ e.V + m.gamma * (o @ e.b)", "m.start @ e.V + o @ e.b", [TEST + "test_criterion_equals_its_transcription[tied-0.0]"]),
    "normal ignores epsilon": (
        SOLVER, "ndtri(1.0 - self.epsilon)", "ndtri(0.9)", [TEST + "test_normal_uses_epsilon"]),
    "rows of the first start are kept even if they are worse": (
        SOLVER, "if objective(other, m, z) >= least else best", "if least > -np.inf else best",
        [TEST + "test_reference_problem"]),
    "the policies meet different models": (
        SOLVER, "again = deepcopy(rng)", "again = rng", [TEST + "test_both_policies_meet_the_same_models"]),
}  # fmt: skip


@pytest.mark.parametrize("name", MUTANTS)
def test_mutant_is_caught(name, assert_caught):
    assert_caught(name, *MUTANTS[name])
