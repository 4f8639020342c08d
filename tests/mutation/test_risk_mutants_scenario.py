"""Planted bugs in max-min over scenarios and in sigma points; see test_mutants.py."""

import pytest

MAX_MIN, SIGMA = "tests/risk/test_scenario_max_min.py::", "tests/risk/test_sigma_point_robust.py::"
RISK = "bayesrl.risk."

MUTANTS = {
    # name: (module, old, new, tests)
    "nature chooses the best scenario": (
        RISK + "_rectangular", "low = q.min(axis=0)\n", "low = q.max(axis=0)\n",
        [MAX_MIN + "test_values_are_those_of_plain_iteration[rectangular]"]),
    "the residual is taken for the error": (
        RISK + "_rectangular", "(change + rounding) / rate, done", "(change + rounding), done",
        [MAX_MIN + "test_a_stalled_iteration_says_so"]),
    "next states of the first model for all": (
        RISK + "_rectangular", '"succ", "group") for m in models)', '"group") for m in models)',
        [MAX_MIN + "test_outcomes_that_differ_and_those_that_are_shared"]),
    "rewards of the first model for all": (
        RISK + "_rectangular", '_same(first, m.outcomes, "reward") for m in models)', "True for m in models)",
        [MAX_MIN + "test_values_are_those_of_plain_iteration[rectangular]"]),
    "a falling line replaces the rising one": (
        RISK + "_state_rectangular", "np.where(lower & up, j, left), np.where(lower & ~up, j, right)",
        "np.where(lower & ~up, j, left), np.where(lower & up, j, right)", [MAX_MIN + "test_games"]),
    "nature's weights are swapped": (
        RISK + "_state_rectangular", "np.add.at(y, (s, left), fall / steep)", "np.add.at(y, (s, left), rise / steep)",
        [MAX_MIN + "test_games"]),
    "a big M that binds": (
        RISK + "_static", "M, least = (high[:, :, None] - d.low) / unit", "M, least = 0.05 * (high[:, :, None] - d.low) / unit",
        [MAX_MIN + "test_program_equals_enumeration"]),
    "gradients forget the visits": (
        RISK + "_static", "return V @ d.start, visits * q", "return V @ d.start, q + 0.0 * visits",
        [MAX_MIN + "test_gradients_of_returns"]),
    "the best scenario of a policy is reported": (
        RISK + "scenario_max_min", "worst = V[first_best(-(V @ d.start))]", "worst = V[first_best(V @ d.start)]",
        [MAX_MIN + "test_three_scenarios_of_two_states"]),
    "clipped sigma points": (
        RISK + "_sigma_points", "return np.concatenate([p[None], p + steps, p - steps])",
        "return np.maximum(np.concatenate([p[None], p + steps, p - steps]), 0.0)",
        [SIGMA + "test_moments_of_sigma_points"]),
    "rows that leave the simplex keep their beta": (
        RISK + "sigma_point_robust", "np.where(most < self.beta, most, self.beta)", "np.full(most.shape, self.beta)",
        [SIGMA + "test_rows_that_would_leave_the_simplex_are_counted"]),
    "alpha_0 for alpha_0 + 1": (
        RISK + "_sigma_points", "/ (total + 1.0))[None])[0]", "/ total)[None])[0]",
        [SIGMA + "test_two_outcomes_in_closed_form"]),
    "the covariance for its root": (
        RISK + "_sigma_points", "np.sqrt(np.maximum(values, 0.0))", "np.maximum(values, 0.0)",
        [SIGMA + "test_moments_of_sigma_points"]),
    "rows that have learnt keep their old root": (
        RISK + "sigma_point_robust", "root[changed] = roots(covariance[changed])", "root[changed] += 0.0",
        [SIGMA + "test_a_plan_is_used_for_a_number_of_steps"]),
}  # fmt: skip


@pytest.mark.parametrize("name", MUTANTS)
def test_mutant_is_caught(name, assert_caught):
    assert_caught(name, *MUTANTS[name])
