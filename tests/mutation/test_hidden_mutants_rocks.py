"""Planted bugs in RockSample without a table, legal actions, and limits of exact solutions; see test_mutants.py."""

import pytest

ROCKS, HERE = "bayesrl.worlds.pomdps._rocks", "tests/worlds/test_rock_sample.py::"
SEARCH = "bayesrl.kernels.search."
STEPS, LEGAL = HERE + "test_steps_are_those_of_the_table", HERE + "test_legal_and_preferred_actions"
SAME, FILTER = HERE + "test_searches_have_the_same_values", HERE + "test_particles_follow_the_exact_filter"
BOUND = HERE + "test_the_upper_bound_is_the_value_of_rocks_that_are_seen"

MUTANTS = {
    # name: (module, old, new, tests)
    "a check that is right is wrong": (ROCKS, "bad if u < model.right", "bad if u > model.right", [STEPS]),
    "a sampled rock stays good": (ROCKS, "s - (good << i)", "s", [STEPS]),
    "sampling nothing goes on": (ROCKS, "return 0, end, FORBIDDEN, True", "return 0, s, FORBIDDEN, False", [STEPS]),
    "every edge is the east edge": (ROCKS, "LEFT if a == 1 else FORBIDDEN", "LEFT", [STEPS]),
    "a move turns rocks bad": (ROCKS, "s + ((there - cell) << k)", "there << k", [STEPS]),
    "the end is left again": (ROCKS, "    if s == end:\n", "    if s == end and a > 3:\n", [STEPS]),
    "the probability of the other answer": (
        ROCKS, "np.where(agrees, right, 1.0 - right)", "np.where(agrees, 1.0 - right, right)", [STEPS, FILTER]),
    "all rocks are bad at first": (
        ROCKS, "int(uniform(rng) * (1 << model.k))", "0", [HERE + "test_starts_are_those_of_the_table"]),
    "a step draws one number": (
        ROCKS, "        generator(self.name, rng).random()  #", "        generator(self.name, rng)  #",
        [HERE + "test_steps_of_the_world_and_of_the_simulator_are_outcomes"]),
    "a barred action is untried": (ROCKS, "Q[h, a], N[h, a] = -np.inf, 1", "Q[h, a], N[h, a] = -np.inf, 0", [LEGAL]),
    "rollouts try what is not legal": (ROCKS, "        if model.legal[s >> model.k, a]:\n            return a", "        return a", [LEGAL]),
    "preferring rollouts check": (ROCKS, "checks = model.k if epsilon > 0.0 else 0", "checks = model.k", [LEGAL]),
    "a sample takes no time": (ROCKS, "GOOD + gamma * f[", "GOOD + f[", [BOUND]),
    "a bound for good rocks": (ROCKS, "f[k].mean()", "f[k].max()", [BOUND]),
    "a map draws a cell twice": (ROCKS, "replace=False", "replace=True", [HERE + "test_maps"]),
    "particles ignore the end": (
        "bayesrl.beliefs.hidden.pomdp_particles", "np.where(done == ended, seen, 0.0)", "seen", [FILTER]),
    "a table bars what is legal": (SEARCH + "hidden_model", "if not model.legal[s, a]:\n", "if model.legal[s, a]:\n", [SAME]),
    "rollouts on a table try everything": (
        SEARCH + "hidden_model", "while len(model.legal) > 0 and not model.legal[s, a]:", "while False:", [SAME]),
    "barred actions were visited": (
        SEARCH + "uct_on_histories", "n = np.where(q == -np.inf, 0, tree.N[0])", "n = tree.N[0].copy()", [SAME]),
    "a kept tree counts what was barred": (
        SEARCH + "history_tree", "legal = tree.Q[root] > -np.inf", "legal = tree.Q[root] < np.inf",
        [HERE + "test_a_kept_tree_forgets_what_is_not_legal"]),
    "penalties of illegal actions bound rewards": (
        "bayesrl.models.pomdp", "np.nonzero(legal & ~self.terminal[:, None])", "np.nonzero(legal | ~self.terminal[:, None])",
        [SAME]),
    "the prior forgets what is legal": (
        "bayesrl.beliefs.hidden.pomdp_filter", "legal_of(problem)", "None", [SAME]),
    "the tiger suggests nothing": (
        "bayesrl.lab.literature.suggestions", '{"tiger": ENDLESS_TIGER, "tiger-tied"', '{"tiger": {}, "tiger-tied"',
        ["tests/cli/test_hidden.py::test_a_world_suggests_settings_of_methods"]),
    "programs are counted, not their entries": (
        "bayesrl.models.pomdp_solvers._pruning", "            left[0] -= changed\n            if", "            left[0] -= 1\n            if",
        ["tests/hidden/test_pomdp_value_iteration.py::test_programs_are_counted"]),
}  # fmt: skip


@pytest.mark.parametrize("name", MUTANTS)
def test_mutant_is_caught(name, assert_caught):
    assert_caught(name, *MUTANTS[name])
