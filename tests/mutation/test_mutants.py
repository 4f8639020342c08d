"""Planted bugs, each caught by a test: what the suite is worth.

Every mutant runs in a process of its own with compilation off (so that no compiled kernel hides a changed source) and
must make at least one of the named tests fail. Exit code 1 is "tests failed"; anything else is a fault of the suite.
"""

import pytest

DIRICHLET, LAWS = "bayesrl.beliefs.tabular.dirichlet_mdp", "tests/beliefs/test_laws.py::test_belief_laws[dirichlet-mdp]"
EXACT, PLANNERS = "tests/bamdp/test_exact.py", "tests/bamdp/test_planners.py::"
BAMCP = "tests/bamdp/test_bamcp.py::"
STICKS, BROKEN = "bayesrl.kernels.stick_breaking", "tests/beliefs/test_dirichlet_sticks.py::"

MUTANTS = {
    # name: (module, old, new, tests)
    "discount forgotten in the exact recursion": (
        "bayesrl.bamdp.offline.bamdp_exact", "+ self.gamma * values.get(new, 0.0)", "+ values.get(new, 0.0)", [EXACT]),
    "discount forgotten in psrl": (
        "bayesrl.bamdp.sampling.psrl", "model.mean_reward + model.gamma * later", "model.mean_reward + later",
        [PLANNERS + "test_psrl_over_a_horizon_gives_finite_horizon_values"]),
    "s and s' swapped": (
        "bayesrl.beliefs.tabular._outcome_reading",
        "operator.index(datum[0]), operator.index(datum[1]), operator.index(datum[3])",
        "operator.index(datum[3]), operator.index(datum[1]), operator.index(datum[0])",
        [LAWS]),
    "evidence counted twice": (
        DIRICHLET,
        "_ledger=self._ledger.append(g * self.outcomes.n_outcomes + k))",
        "_ledger=self._ledger.append(g * self.outcomes.n_outcomes + k).append(g * self.outcomes.n_outcomes + k))",
        [LAWS]),
    "evidence counted twice in a reward": (
        "bayesrl.beliefs.tabular.reward_beta", "add_at(getattr(self, field), cell, 1.0)",
        "add_at(getattr(self, field), cell, 2.0)", ["tests/beliefs/test_laws.py::test_belief_laws[reward-beta]"]),
    "update in place": (
        "bayesrl.beliefs.tabular._ledger", "        new = object.__new__(Ledger)\n        new._book, new._n, new._cells = book, n + 1,",
        "        new = self\n        new._book, new._n, new._cells = book, n + 1,", [LAWS]),
    "a taken place is written over": (
        "bayesrl.beliefs.tabular._ledger", "if book.fill == n < len(book.entries)", "if n < len(book.entries)",
        ["tests/beliefs/test_dirichlet.py"]),
    "update in place in a reward": (
        "bayesrl.beliefs.tabular.reward_beta", "new = counts.copy()", "new = counts\n    new.setflags(write=True)",
        ["tests/beliefs/test_laws.py::test_belief_laws[reward-beta]"]),
    "terminal ignored in q-learning": (
        "bayesrl.bamdp.baselines.q_learning", "r if y is None else ", "", ["tests/bamdp/test_q_learning.py"]),
    "terminal states pay": (
        "bayesrl.models.outcomes", "np.where(pad | terminal[:, None, None], 0.0, reward)", "np.where(pad, 0.0, reward)",
        ["tests/models"]),
    "tie rule": ("bayesrl.kernels.ties", "            if n == 0:\n", "            if n >= 0:\n", [PLANNERS + "test_ties"]),
    "ties never random": ("bayesrl.beliefs._choosing", 'if ties == "first"', "if True", [PLANNERS + "test_ties"]),
    "wrong group when learning": (
        DIRICHLET, "g = self.outcomes.group.item(s, a)\n        if self.known[g]:\n            return self",
        "g = self.outcomes.group.item(s, 0)\n        if self.known[g]:\n            return self", [LAWS]),
    "wrong group in the exact recursion": (
        "bayesrl.bamdp.offline.bamdp_exact", "self.rows[self.o.group[s, a]]", "self.rows[self.o.group[s, 0]]", [EXACT]),
    "reward of the wrong outcome": (
        "bayesrl.bamdp.offline.bamdp_exact", "self.o.reward[s, a, k]", "self.o.reward[s, a, 0]", [EXACT]),
    "reward of the wrong outcome in a model": (
        "bayesrl.models.mdp", 'np.einsum("sak,sak->sa", self.prob[self.group], self.reward)',
        'np.einsum("sak,sak->sa", self.prob[self.group], self.reward[:, :, ::-1])', ["tests/models"]),
    "counts of another order merged": (
        "bayesrl.bamdp.offline.bamdp_exact", "self.base = horizon + 1", "self.base = max(horizon - 2, 1)", [EXACT]),
    "a known row is learnt": (
        DIRICHLET, "        if self.known[g]:\n            return self\n", "", ["tests/beliefs/test_dirichlet.py"]),
    "a sampled model is the mean": (
        DIRICHLET, "prob = dirichlet_rows(self.alpha, rng)", 
        "prob = self.alpha / self.alpha.sum(axis=1, keepdims=True)", [LAWS]),
    "pieces of a stick know nothing of the counts": (
        STICKS, "uniform(rng) ** (1.0 / mass)", "uniform(rng)",
        [BROKEN + "test_rows_are_like_those_of_gammas[65-0.001-seen5]"]),
    "what is seen weighs too much": (
        STICKS, "rng.standard_gamma(np.rint(alpha[g, y] - a[g]))", "rng.standard_gamma(alpha[g, y] + 1.0)",
        [BROKEN + "test_rows_are_like_those_of_gammas[64-0.015625-seen1]"]),
    "the prior's part is its mean": (
        STICKS, "left, total = rng.standard_gamma(mass) if", "left, total = mass if",
        [BROKEN + "test_rows_are_like_those_of_gammas[64-0.015625-seen1]"]),
    "a stick is thrown away too early": (
        STICKS, "LEFT = 2.0**-54", "LEFT = 2.0**-20", [BROKEN + "test_rows_sum_to_one_however_small_the_counts"]),
    "sticks are broken where counts differ": (
        "bayesrl.beliefs.tabular._dirichlet_rows", "if (prior == even[:, None])[learnt].all() else None", "",
        [BROKEN + "test_where_sticks_are_broken"]),
    "a later belief forgets that its counts were equal": (
        DIRICHLET, 'Traits(depends_on_data=("_alpha",))',
        'Traits(depends_on_data=("_alpha", "even"))',
        ["tests/bamdp/test_boss.py::test_lists_are_the_models_they_stand_for"]),
    "tiny counts underflow": (
        "bayesrl.beliefs.tabular._dirichlet_rows", "SMALL_ALPHA = 0.1", "SMALL_ALPHA = 0.0",
        ["tests/beliefs/test_dirichlet.py"]),
    "variance without the +1": (
        DIRICHLET, "variance /= total + 1.0", "variance /= total", ["tests/beliefs/test_dirichlet.py"]),
    "the survey's misprinted Beta update": (
        "bayesrl.beliefs.tabular.reward_beta", "add_at(getattr(self, field), cell, 1.0)",
        'add_at(self.beta if not win else self.alpha, cell, 1.0 if win else -0.5)',
        ["tests/beliefs/test_laws.py::test_belief_laws[reward-beta]"]),
    "the survey's misprinted normal posterior": (
        "bayesrl.beliefs._normal_gamma", "0.5 * strength * delta * step", "0.5 * delta * delta",
        ["tests/beliefs/test_laws.py::test_belief_laws[reward-normal]"]),
    "the prior mean ignored": (
        "bayesrl.beliefs._normal_gamma", "delta / (strength + 1.0)", "delta / strength",
        ["tests/beliefs/test_laws.py::test_belief_laws[reward-normal]"]),
    "the bonus falls as 1/sqrt(n)": (
        "bayesrl.bamdp.optimism.beb", "(1.0 + belief.counts())", "(1.0 + belief.counts()) ** 0.5",
        [PLANNERS + "test_beb_equals_its_transcription"]),
    "the bonus forgets the prior's counts": (
        "bayesrl.bamdp.optimism.beb", "1.0 + belief.counts()", "1.0 + belief.counts() - belief._prior.sum(axis=1)[belief.group]",
        [PLANNERS + "test_beb_equals_its_transcription"]),
    "a model is kept one step too long": (
        "bayesrl.bamdp.sampling.bayesian_dp", "memory.left == 0", "memory.left < 0",
        [PLANNERS + "test_bayesian_dp_resamples_every_n_steps"]),
    "the end of an episode goes unnoticed": (
        "bayesrl.bamdp.sampling.psrl", "over = last is not None and last.ends_episode", "over = False",
        [PLANNERS + "test_psrl_draws_one_model_per_episode"]),
    "epsilon upside down": (
        "bayesrl.bamdp.baselines.epsilon_greedy", "rng.random() < self.epsilon", "rng.random() > self.epsilon",
        [PLANNERS + "test_epsilon_greedy_frequencies"]),
    "soft-max that never normalises": (
        "bayesrl.models.policies._sampling", ".random() * total[-1]", ".random() * total[-1] * 0.1",
        [PLANNERS + "test_softmax_frequencies"]),
    "the exact solution never counts its decisions": (
        "bayesrl.bamdp.offline.bamdp_exact", "left - 1, {", "left, {",
        [EXACT + "::test_the_solution_earns_what_it_promises"]),
    "compare keeps nothing": (
        "bayesrl.lab.compare", "lockstep=lockstep, keep=keep, watch=watch)", "lockstep=lockstep, watch=watch)",
        ["tests/lab/test_compare.py::test_kept_columns_are_those_of_the_runs"]),
    "thought and world share a stream": (
        "bayesrl.core", "agent.act(mind, seen, thought)", "agent.act(mind, seen, streams.world)",
        ["tests/test_core.py"]),
    "an episode is cut one step late": ("bayesrl.core", "truncated = age == horizon", "truncated = age > horizon",
        ["tests/test_core.py"]),
    "a hidden state survives its episode": (
        "bayesrl.core", "            belief = belief.restart()\n", "            pass\n", ["tests/test_core.py"]),
    "a simulation remembers the one before": (
        "bayesrl.kernels.urn", "row.count, row.total = row.seen, row.mass + row.seen", "pass",
        [BAMCP + "test_every_simulation_starts_from_the_belief_and_stops_at_the_end"]),
    "draws add no balls": (
        "bayesrl.kernels.urn", "        row.count = n + ONE\n        row.total += 1.0\n    return k", "    return k",
        [BAMCP + "test_urns_draw_like_a_model_drawn_once"]),
    "urns of all sizes weigh alike": (
        "bayesrl.kernels.sparse_urn", "kept = row.among == urn.prior[2]", "kept = True",
        ["tests/beliefs/test_sparse_dirichlet.py::test_urns_of_unequal_sizes_do_not_share_their_weights"]),
    "a sparse urn never weighs itself again": (
        "bayesrl.kernels.sparse_urn", "        weigh(urn, row)\n    return k", "    return k",
        ["tests/beliefs/test_sparse_dirichlet.py::test_urn_has_the_law_of_a_model_drawn_once"]),
    "every outcome leads to the state of its number": (
        "bayesrl.kernels.urn", "y = k if model.plain else model.succ[i, k]", "y = k",
        ["tests/bamdp/test_bfs3.py::test_bounds_bracket_the_exact_values[tied-8]"]),
    "rollouts take the first of the best actions": (
        "bayesrl.kernels.urn", "(u - epsilon) * (M / (1.0 - epsilon))", "0.0",
        [BAMCP + "test_rollouts_are_epsilon_greedy_with_ties_at_random"]),
    "what cannot be shared out evenly is the first action's": (
        "bayesrl.kernels.search.uct_on_histories", "P = np.full((S + 1, M), REDRAW)", "P = np.zeros((S + 1, M), np.uint16)",
        [BAMCP + "test_rollouts_are_epsilon_greedy_with_ties_at_random"]),
    "every pair of a flat model has an urn of its own": (
        "bayesrl.models.outcomes", " and (self.group.ravel() == np.arange(S * A)).all())", ")",
        [BAMCP + "test_pairs_of_a_flat_model_may_share_an_urn"]),
    "a leaf is worth nothing": (
        "bayesrl.kernels.search.uct_on_histories", "R += discount * V0[s]", "pass",
        [BAMCP + "test_the_leaf_is_worth_what_the_mean_model_promises"]),
    "a tree is kept over a reset": (
        "bayesrl.bamdp.search.bamcp", "if last.next_state == observation else None", "if last is not None else None",
        [BAMCP + "test_no_tree_is_kept_over_a_reset"]),
    "discount forgotten in the search": (
        "bayesrl.kernels.search.uct_on_histories", "R = path_r[t] + gamma * R", "R = path_r[t] + R",
        [BAMCP + "test_equal_in_law_to_a_naive_transcription"]),
    "histories with different outcomes are one": (
        "bayesrl.kernels.search.uct_on_histories", "int(k) * A + a", "a",
        [BAMCP + "test_equal_in_law_to_a_naive_transcription"]),
    "terminal ignored in the search": (
        "bayesrl.kernels.urn", "model.reward[i, k], model.terminal[y], g", "model.reward[i, k], False, g",
        [BAMCP + "test_every_simulation_starts_from_the_belief_and_stops_at_the_end"]),
    "a bound without its factor": (
        "bayesrl.bandits.bandit_bounds", "s * np.sqrt(2.0 * H", "s * np.sqrt(H",
        ["tests/lab/test_report.py::test_bounds_are_drawn_where_the_formulas_put_them"]),
    "a bound is drawn elsewhere": (
        "bayesrl.lab.plots.curves", "axes.plot(bound.steps, bound.value,", "axes.plot(bound.steps, 2.0 * bound.value,",
        ["tests/lab/test_report.py::test_bounds_are_drawn_where_the_formulas_put_them"]),
    "a prior's bound for any prior": (
        "bayesrl.bandits._bounds_of_world", "if prior is None or prior == own else {}", "",
        ["tests/bandits/test_bounds.py::test_bounds_of_families"]),
    "discount forgotten where rows are skipped": (
        "bayesrl.kernels.retirement", "(gamma * q) ** j", "q**j",
        ["tests/bandits/test_gittins.py::test_the_kernel_against_the_whole_lattice[0.97-0.0-False]"]),
}  # fmt: skip


@pytest.mark.parametrize("name", MUTANTS)
def test_mutant_is_caught(name, assert_caught):
    assert_caught(name, *MUTANTS[name])
