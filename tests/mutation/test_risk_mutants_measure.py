"""Planted bugs in measures over percentiles, their solver and the frontier; see test_mutants.py."""

import pytest

MEASURE, SETS, SOLVER, FRONTIER = (
    f"tests/risk/test_{name}.py::" for name in ("measure", "information_sets", "percentile_measure", "frontier")
)
RISK = "bayesrl.risk."
ORDERS = SOLVER + "test_equal_to_the_program_with_all_orders[histories-Measure.cvar(0.3)-unequal]"

MUTANTS = {
    # name: (module, old, new, tests)
    "percentiles from the wrong end": (
        RISK + "_measure", 'order = np.argsort(v, kind="stable")', 'order = np.argsort(-v, kind="stable")',
        [MEASURE + "test_values_by_hand"]),
    "returns in the order of the models": (
        RISK + "_measure", 'order = np.argsort(v, kind="stable")', "order = np.arange(len(v))",
        [MEASURE + "test_values_by_hand"]),
    "unequal weights are ignored": (
        RISK + "_measure", "below = np.cumsum(w[order])", "below = np.arange(1.0, len(v) + 1.0)",
        [MEASURE + "test_values_by_hand"]),
    "weights in the order of the models": (
        RISK + "_measure", "below = np.cumsum(w[order])", "below = np.cumsum(w)", [MEASURE + "test_values_by_hand"]),
    "k of n counts n draws beside the one": (
        RISK + "_measure", "bdtr(self.k - 1, self.n - 1, x)", "bdtr(self.k - 1, self.n, x)",
        [MEASURE + "test_reference_values_of_the_density"]),
    "the best k of n": (
        RISK + "_measure", "self.n / self.k * bdtr(self.k - 1, self.n - 1, x)",
        "self.n / self.k * bdtr(self.k - 1, self.n - 1, 1.0 - x)", [MEASURE + "test_reference_values_of_the_density"]),
    "the tail of k of n is forgotten": (
        RISK + "_measure", "x * self.density(x) + bdtrc(self.k, self.n, x)", "x * self.density(x)",
        [MEASURE + "test_k_of_n_is_the_mean_of_the_worst_of_enumerated_draws"]),
    "increasing densities are accepted": (
        RISK + "_measure", "np.diff(y) > TOLERANCE", "np.diff(y) > 1e9", [MEASURE + "test_refused"]),
    "nature's probabilities are left out": (
        RISK + "_information_sets", "model.gamma**sets.step * reach", "model.gamma**sets.step",
        [SETS + "test_returns_are_those_of_walking_all_histories"]),
    "an episode goes on after a terminal state": (
        RISK + "_information_sets", "possible & ~ends & ~np.repeat(ends, model.n_actions)[:, None]", "possible",
        [SETS + "test_a_state_without_a_set_has_uniform_actions"]),
    "a step is discounted twice": (
        RISK + "_information_sets", "model.gamma**sets.step * reach", "model.gamma**(2 * sets.step) * reach",
        [SETS + "test_returns_are_those_of_walking_all_histories"]),
    "a truncated episode goes on": (
        RISK + "_information_sets", "not last.ends_episode", "not last.terminated",
        [SETS + "test_acting_moves_along_what_was_seen"]),
    "the memory is the first set for ever": (
        RISK + "_information_sets", "i = int(sets.entry[s]) if i == NONE else i", "i = int(sets.entry[s])",
        [SOLVER + "test_the_policy_walked_through_plan_has_its_value[False-terminal0]"]),
    "averaged behaviour": (
        RISK + "_information_sets", "np.where(reached, x / np.where(reached, total, 1.0), otherwise)",
        "np.where(reached, x, otherwise)", [SETS + "test_the_average_of_plans_is_the_plan_of_its_strategy"]),
    "histories are merged to pairs of step and state": (
        RISK + "percentile_measure", "models, shared = drawn.models, share_transitions(drawn.models)",
        "models, shared = drawn.models, True", [SOLVER + "test_the_mean_is_the_bayes_adaptive_optimum"]),
    "the prior's weights are the adversary's": (
        RISK + "_cutting_planes", "adversary, upper = multipliers @ np.array(cuts), min(upper, t)",
        "adversary, upper = weights, min(upper, t)",
        [SOLVER + "test_planning_against_the_adversary_earns_the_value[histories]"]),
    "the programs stop after the first": (
        RISK + "_cutting_planes", "ROUNDS = 5000", "ROUNDS = 1", [ORDERS]),
    "the rows of the program are not discounted": (
        RISK + "_cutting_planes", "sparse.csr_array(self.model.gamma * self.model.matrix.T)",
        "sparse.csr_array(self.model.matrix.T)",
        [SOLVER + "test_planning_against_the_adversary_earns_the_value[stationary]"]),
    "the weight of the tail is that of the mean": (
        RISK + "_frontier", "[1.0 - weight, weight]", "[weight, 1.0 - weight]",
        [FRONTIER + "test_equal_to_the_program_of_the_tail"]),
    "ties at the ends stay as they are": (
        RISK + "_frontier", "if weight in (0.0, 1.0):", "if False:", [FRONTIER + "test_ties_go_to_the_better_of_the_other"]),
    "a frontier of shuffled points": (
        "bayesrl.lab.plots.risk", "frontier.mean[order], frontier.tail[order]", "frontier.mean, frontier.tail[order]",
        [FRONTIER + "test_the_picture_shows_the_frontier"]),
}  # fmt: skip


@pytest.mark.parametrize("name", MUTANTS)
def test_mutant_is_caught(name, assert_caught):
    assert_caught(name, *MUTANTS[name])
