"""Planted bugs in beliefs over hyper-states and their exact searches; see test_mutants.py."""

import pytest

HIDDEN, BAPOMDP = "bayesrl.beliefs.hidden.", "bayesrl.bapomdp."
STEP, SAMPLES = HIDDEN + "_hyper_states", HIDDEN + "_hyper_samples"
PATHS = "tests/hidden/test_bapomdp_beliefs.py::test_equals_the_sum_over_hidden_paths"
BELIEFS, PARTICLE, SEARCH, PRIOR = (
    f"tests/{name}.py::"
    for name in (
        "hidden/test_bapomdp_beliefs", "hidden/test_bapomdp_particle", "bapomdp/test_bapomdp_search",
        "hidden/test_dirichlet_pomdp",
    )
)  # fmt: skip
BRUTE = SEARCH + "test_equals_brute_force_at_every_depth"
PRUNED = SEARCH + "test_branch_and_bound_has_the_same_values_with_no_more_nodes[all unknown-optimistic-zero]"

MUTANTS = {
    # name: (module, old, new, tests)
    "counts go up before the weight": (
        STEP, "p = w * (x[k] / moves) * (z[j] / shows)",
        "p = w * (x[k] / moves) * ((z[j] + m.learnt[r]) / (shows + m.learnt[r]))", [PATHS]),
    "particles count before they weigh": (
        SAMPLES, "new.weight[n] = w * shown / shows",
        "new.weight[n] = w * (shown + 1.0) / (shows + 1.0)",
        [PARTICLE + "test_the_observation_that_came_is_weighed_and_counted"]),
    "particles count a simulated observation": (
        SAMPLES, "        j = draw(x[: m.size[r]], shown, rng)\n",
        "        j = draw(m.alpha[r, : m.size[r]], m.total[r], rng)\n",
        [PARTICLE + "test_the_observation_that_came_is_weighed_and_counted"]),
    "a restart forgets the counts": (
        HIDDEN + "_over_hyper_states", "hyper=all_frozen(again(self.rows, self.hyper))", "hyper=nothing_seen()",
        [PATHS]),
    "a restart keeps the state": (
        STEP, "b = Branches(np.zeros(N), np.full(N, FRESH), zero,", "b = Branches(np.zeros(N), h.state.copy(), zero,",
        [PATHS]),
    "a restart of particles keeps the state": (
        HIDDEN + "bapomdp_particle", "state=np.full(len(self.hyper.state), FRESH)", "state=self.hyper.state.copy()",
        [PARTICLE + "test_before_the_first_update_it_is_the_prior"]),
    "hyper-states of different counts merge": (
        STEP, "b.key[i] == b.key[n] and b.state[i] == b.state[n] and same_counts(h, b, i, n, pad)",
        "b.state[i] == b.state[n]", [PATHS]),
    "lists of the same cells merge, whatever their counts": (
        STEP, "    n = 0\n    for t in range(h.first[b.root[i]]", "    return 0\n    for t in range(h.first[b.root[i]]",
        [BELIEFS + "test_lists_are_compared_count_by_count"]),
    "equal hyper-states do not merge": (
        STEP, "            b.weight[i] += b.weight[n]\n            return 0\n", "            pass\n", [PATHS]),
    "a tie is broken: the count goes to the pair's own row": (
        STEP, "insert(new.path[n], g * W + k, m.mix)", "insert(new.path[n], s * W + k, m.mix)", [PATHS]),
    "outcomes of one state are taken together": (
        STEP, "key = (key + insert(new.path[n], g * W + k, m.mix)) % KEYS",
        "key = (key + insert(new.path[n], g * W + m.succ[s, a, k], m.mix)) % KEYS", [PATHS]),
    "known rows are counted": (
        STEP, "if m.learnt[r] and shows < m.bound:\n                        key", "if shows < m.bound:\n                        key",
        [PATHS]),
    "the end of an episode is not looked at": (
        STEP, "if w * x[k] == 0.0 or m.terminal[y] != ended:", "if w * x[k] == 0.0:", [PATHS]),
    "a terminal state is left": (
        STEP, "move = np.where(outcomes.terminal[:, None], G, outcomes.group)", "move = outcomes.group",
        [BELIEFS + "test_nothing_is_learnt_after_the_end"]),
    "what is seen tells of the old state": (
        STEP, "                r = m.show[y, a]\n                shows = counts_in(m, h, e.root[i], e.path[i], r, z)\n"
        "                for j in range(m.size[r]):\n                    p = w",
        "                r = m.show[s, a]\n                shows = counts_in(m, h, e.root[i], e.path[i], r, z)\n"
        "                for j in range(m.size[r]):\n                    p = w", [PATHS]),
    "the predictive tells of the old state": (
        SAMPLES, "shows = counts_in(m, h, i, none, m.show[y, a], z)\n                    for j in range(m.size[m.show[y, a]]):",
        "shows = counts_in(m, h, i, none, m.show[s, a], z)\n                    for j in range(m.size[m.show[s, a]]):",
        [BELIEFS + "test_predictives_are_ratios_of_evidence"]),
    "a row is counted at the bound": (
        STEP, "if m.learnt[r] and shows < m.bound:\n                        key", "if m.learnt[r] and shows <= m.bound:\n                        key",
        [BELIEFS + "test_rows_are_counted_up_to_the_bound"]),
    "pruned evidence": (
        HIDDEN + "bapomdp_most_probable", "        probability = float(new.weight.sum())\n        if len",
        "        probability = float(np.sort(new.weight)[-2:].sum())\n        if len",
        [BELIEFS + "test_bounded_and_pruned_beliefs_are_exact_while_nothing_is_left_out"]),
    "the lightest are kept": (
        HIDDEN + "bapomdp_most_probable", "largest(new.weight", "largest(-new.weight",
        [BELIEFS + "test_the_heaviest_are_kept"]),
    "a state and a model are drawn apart": (
        HIDDEN + "_over_hyper_states", "return self.prior.drawn(*self.counts_of(i), rng, point)",
        "return self.prior.drawn(*self.counts_of(pick(self.hyper.weight, rng)), rng, point)",
        [BELIEFS + "test_a_model_is_drawn_with_its_state"]),
    "means of counts, not of means": (
        SAMPLES, "mean[r, k] += h.weight[i] * x[k] / total", "mean[r, k] += h.weight[i] * x[k]",
        [BELIEFS + "test_mean_model_and_dense_counts_are_those_of_the_mixture"]),
    "resampling by weight and not by its sum": (
        SAMPLES, "while i < n - 1 and below <= (t + u) * step:", "while i < n - 1 and below <= t * step:",
        [PARTICLE + "test_resampling_is_systematic"]),
    "no discount at the leaf": (
        BAPOMDP + "bapomdp_forward_search", "        q += t.gamma * v\n", "        q += (t.gamma if d > 1 else 1.0) * v\n",
        [SEARCH + "test_leaves_are_qmdp_of_the_mean_model"]),
    "the leaf chooses by the state": (
        BAPOMDP + "_hyper_search", "        q += e.weight[i] * leaf[e.state[i]]\n",
        "        q += e.weight[i] * leaf[e.state[i]].max()\n", [SEARCH + "test_leaves_are_qmdp_of_the_mean_model"]),
    "the tree forgets what it counted": (
        STEP, "                    new.path[n] = e.path[i]\n", "                    new.path[n] = pad\n", [BRUTE]),
    "values after the end": (
        BAPOMDP + "bapomdp_forward_search", "new = step(m, h, e, a, o, False)", "new = step(m, h, e, a, o, bool(o))", [BRUTE + "[terminal]"]),
    "the reward of the state that was reached": (
        BAPOMDP + "_hyper_search", "total += p * m.reward[s, a, y, 0]", "total += p * m.reward[y, a, s, 0]", [BRUTE + "[paid by next state]"]),
    "branches of different roots share bounds": (
        BAPOMDP + "bapomdp_branch_and_bound", "        e.key[i] = (e.key[i] + i) % KEYS\n", "        pass\n", [PRUNED]),
    "the lower bound sees the state": (
        BAPOMDP + "bapomdp_branch_and_bound",
        "        q += e.weight[i] * low[e.root[i] if low.shape[0] > 1 else 0, d, e.state[i]]\n",
        "        q += e.weight[i] * low[e.root[i] if low.shape[0] > 1 else 0, d, e.state[i]].max()\n", [PRUNED]),
    "the upper bound adds no counts": (
        BAPOMDP + "bapomdp_branch_and_bound", "n = float(D - d) if m.learnt[g] else 0.0", "n = 0.0",
        [SEARCH + "test_bounds_bracket_the_values"]),
    "an abandoned action counts": (
        BAPOMDP + "bapomdp_branch_and_bound", "            if v <= need:\n                break\n", "            if v <= need:\n                q = best + 1.0\n",
        [PRUNED]),
    "the density of known rows": (
        HIDDEN + "_dirichlet_pomdp", "dirichlet_log_density(counts[~fixed], prob[~fixed])",
        "dirichlet_log_density(counts, own)", [PRIOR + "test_density_is_that_of_unknown_rows"]),
    "known rows are drawn": (
        HIDDEN + "_dirichlet_pomdp", "rows[~fixed] = dirichlet_rows(counts[~fixed], rng)", "rows[:] = dirichlet_rows(counts, rng)",
        [PRIOR + "test_draws_have_these_means_and_keep_known_rows"]),
    "a seen step counts once, whatever its weight": (
        HIDDEN + "_dirichlet_pomdp", "phi[g] += weight * moved / moved.sum()", "phi[g] += moved / moved.sum()",
        [PRIOR + "test_steps_that_were_seen_are_counted"]),
    "the error of one row": (
        BAPOMDP + "_count_bounds", "one = 4.0 / (N + 1.0)", "one = 2.0 / (N + 1.0)", [SEARCH + "test_the_bounds_by_hand"]),
}  # fmt: skip


@pytest.mark.parametrize("name", MUTANTS)
def test_mutant_is_caught(name, assert_caught):
    assert_caught(name, *MUTANTS[name])
