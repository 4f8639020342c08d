"""Planted bugs in the tree searches; see test_mutants.py."""

import pytest

ENUMERATING, KNOWN = "tests/bamdp/test_enumerating_search.py::", "tests/bamdp/test_known_model_search.py::"
BAMCP, UNITS = "tests/bamdp/test_bamcp.py::", "tests/bamdp/test_units.py::"
BSS, BFS3 = "tests/bamdp/test_bss.py::", "tests/bamdp/test_bfs3.py::"
TREE, COUNTS, REPLAY = "bayesrl.kernels.tree", "bayesrl.kernels.counts", "bayesrl.kernels.replay"
HMDP = "bayesrl.bamdp.search.hmdp"
SAMPLED, ROWS = "bayesrl.bamdp.search.bayesian_sparse_sampling", "bayesrl.bamdp.search._split_rows"
STICKS = "bayesrl.kernels.stick_breaking"
COINS, GRID, SPARSE = (
    "bayesrl.kernels.search.row_column",
    "bayesrl.beliefs.tabular.row_column_beta",
    "bayesrl.beliefs.tabular.sparse_dirichlet",
)
BELIEF, SEARCH = "tests/beliefs/test_infinite_grid.py::", "tests/bamdp/test_infinite_grid.py::"
SUPPORTS = "tests/beliefs/test_sparse_dirichlet.py::"

MUTANTS = {
    # name: (module, old, new, tests)
    # Counts, shared by the enumerating searches
    "a known row is counted": (
        COUNTS, "m.phi[g, k] += by * m.gain[g]", "m.phi[g, k] += by",
        [ENUMERATING + "test_bop_equals_a_naive_transcription[half-known-3]"]),
    "the total is not counted": (
        COUNTS, "m.total[g] += by * m.gain[g]", "pass",
        [ENUMERATING + "test_equal_to_exact_values_at_every_depth[tied]"]),
    "rewards teach nothing": (
        COUNTS, "m.pay[c, e % V] += by", "pass",
        [ENUMERATING + "test_equal_to_exact_values_at_every_depth[unknown]"]),
    # the same of a sparse Dirichlet
    "a new kind is not counted": (
        COUNTS, "if m.phi[g, k] == max(by, 0.0):", "if m.phi[g, k] == 0.0:",
        [ENUMERATING + "test_equal_to_exact_values_at_every_depth[sparse]"]),
    "a kind that has gone stays": (
        COUNTS, "if m.phi[g, k] == max(by, 0.0):", "if m.phi[g, k] == 1.0 and by > 0.0:",
        [ENUMERATING + "test_sparse_counts_follow_the_belief[sparse]"]),
    "the weight of another size": (
        COUNTS, "kept = m.size[g] == m.phi.shape[1] and", "kept =",
        [ENUMERATING + "test_sparse_counts_follow_the_belief[sparse ends]"]),
    "nothing new comes": (
        COUNTS, "if n > 0.0 else m.support[g, NEWS]", "if n > 0.0 else 0.0",
        [ENUMERATING + "test_equal_to_exact_values_at_every_depth[sparse]"]),
    "what was seen weighs what was seen alone": (
        COUNTS, "return (m.alpha + n) / m.total[g]", "return n / m.total[g]",
        [ENUMERATING + "test_equal_to_exact_values_at_every_depth[sparse]"]),
    # forward-search
    "forward search forgets the discount": (
        "bayesrl.bamdp.search.forward_search", "q += p * (r + t.gamma * v)", "q += p * (r + v)",
        [ENUMERATING + "test_equal_to_exact_values_at_every_depth[flat]"]),
    "forward search learns nothing on its way": (
        "bayesrl.bamdp.search.forward_search", "follow(m, t.sums, s, a, e, 1.0)", "pass",
        [ENUMERATING + "test_equal_to_exact_values_at_every_depth[tied]"]),
    "forward search does not forget on its way back (the survey's Algorithm 1 without its last line)": (
        "bayesrl.bamdp.search.forward_search", "follow(m, t.sums, s, a, e, -1.0)", "pass",
        [ENUMERATING + "test_equal_to_exact_values_at_every_depth[tied]"]),
    "forward search looks one step too far": (
        "bayesrl.bamdp.search.forward_search", "if d == 2:", "if d == 1:",
        [ENUMERATING + "test_equal_to_exact_values_at_every_depth[tied]"]),
    # sums that searches keep
    "a sum is used after its row was added to": (
        COUNTS, "if sums.added[m.group[s, a]] > 0:", "if sums.added[m.group[s, a]] > 9:",
        [ENUMERATING + "test_equal_to_exact_values_at_every_depth[tied]"]),
    "a sum is used after its row was added to, flat": (
        COUNTS, "if sums.added[m.group[s, a]] > 0:", "if sums.added[m.group[s, a]] > 9:",
        [ENUMERATING + "test_values_of_forward_search_on_random_beliefs[optimistic]"]),
    "a sum is used after its reward was added to": (
        COUNTS, "if sums.added[m.group[s, a]] > 0:", "if sums.added[m.group[s, a]] > 9:",
        [ENUMERATING + "test_equal_to_exact_values_at_every_depth[known moves]"]),
    "a sum is kept from a row that was added to": (
        COUNTS, "return summed(m, s, a, gamma, v)\n    if", "sums.table[d, s, a] = summed(m, s, a, gamma, v)\n    if",
        [ENUMERATING + "test_equal_to_exact_values_at_every_depth[flat]"]),
    "sums of another level": (
        COUNTS, "if np.isnan(sums.table[d, s, a]):", "d = 0\n    if np.isnan(sums.table[d, s, a]):",
        [ENUMERATING + "test_values_of_forward_search[flat-optimistic]"]),
    # branch-and-bound
    "bounds are taken for values before the last decision": (
        "bayesrl.bamdp.search.branch_and_bound", "if d == 1 or", "if d <= 2 or",
        [ENUMERATING + "test_values_of_forward_search[flat-optimistic]"]),
    "unknown rewards may not improve": (
        "bayesrl.bamdp.search.branch_and_bound", "(mean + n * m.values.max()) / (m.pay_total[c] + n)", "mean / m.pay_total[c]",
        [ENUMERATING + "test_bounds_bracket_the_exact_values_of_every_hyper_state[unknown]"]),
    "the naive bound forgets a reward": (
        "bayesrl.bamdp.search._lookahead", "high + gamma * v[d, 1]", "gamma * v[d, 1]",
        [ENUMERATING + "test_bounds_bracket_the_exact_values_of_every_hyper_state[flat]"]),
    "optimism of one outcome for all those to come": (
        "bayesrl.bamdp.search.branch_and_bound", "n = (D - d) * m.gain[g]", "n = min(D - d, 1) * m.gain[g]",
        [ENUMERATING + "test_bounds_bracket_the_exact_values_of_every_hyper_state[tied]"]),
    "the mean model taken for a bound": (
        "bayesrl.bamdp.search.branch_and_bound", "n = (D - d) * m.gain[g]", "n = 0.0 * m.gain[g]",
        [ENUMERATING + "test_values_of_forward_search[tied-optimistic]"]),
    "the Dirichlet's bound under a sparse prior": (
        "bayesrl.bamdp.search.branch_and_bound", "if m.alpha > 0.0:", "if m.alpha < 0.0:",
        [ENUMERATING + "test_bounds_bracket_the_exact_values_of_every_hyper_state[sparse]"]),
    "a sparse bound of the outcomes seen alone": (
        "bayesrl.bamdp.search.branch_and_bound", "for j in range(min(n, u) + 1):", "for j in range(1):",
        [ENUMERATING + "test_bounds_bracket_the_exact_values_of_every_hyper_state[sparse]"]),
    "a sparse bound of outcomes that are all new": (
        "bayesrl.bamdp.search.branch_and_bound", "again = (i - j) * top if i > j else 0.0", "again = 0.0",
        [ENUMERATING + "test_highest_mean_is_that_of_the_best_outcomes_to_come[4]"]),
    "a value comes in and its bound stays": (
        "bayesrl.bamdp.search.branch_and_bound", "q -= weight * t.upper[d - 1, y]", "pass",
        [ENUMERATING + "test_values_of_forward_search[tied-optimistic]"]),
    "too much is asked of a branch": (
        "bayesrl.bamdp.search.branch_and_bound", "need = (best - q) / weight", "need = (best - q) / (weight * t.gamma)",
        [ENUMERATING + "test_values_of_forward_search_on_random_beliefs[optimistic]"]),
    "nothing is pruned": (
        "bayesrl.bamdp.search.branch_and_bound", "not x[a] > best:", "x[a] == -np.inf:",
        [ENUMERATING + "test_fewer_nodes"]),
    # bop
    "BOP expands the most probable leaf, however deep": (
        "bayesrl.bamdp.search.bop", "leaf = max(leaf, leaves.gamma * p * w)", "leaf = max(leaf, p * w)",
        [ENUMERATING + "test_bop_equals_a_naive_transcription[tied-None]"]),
    "BOP's tree is pessimistic": (
        "bayesrl.bamdp.search.bop", "if better(upper, t.value[h, 1]):", "if lower >= t.value[h, 0]:",
        [ENUMERATING + "test_bop_equals_a_naive_transcription[tied-None]"]),
    "BOP presumes rewards from nought": (
        "bayesrl.bamdp.search._lookahead", "low, high = reward_range", "low, high = 0.0, reward_range[1]",
        [ENUMERATING + "test_bop_bounds_bracket_the_exact_values_and_never_widen[flat]"]),
    "BOP's leaves are worth nothing": (
        "bayesrl.bamdp.search.bop", "low, high = leaf_bounds(leaves, y, d, m.terminal[y])",
        "low, high = leaf_bounds(leaves, y, d, m.terminal[y] or d == 0)",
        [ENUMERATING + "test_bop_brackets_the_values_of_forward_search_with_leaves[flat]"]),
    "BOP's counts stay": (
        "bayesrl.bamdp.search.bop", "add(m, s, a, e, -1.0)", "pass",
        [ENUMERATING + "test_bop_equals_a_naive_transcription[tied-3]"]),
    # hmdp
    "HMDP's fringe is worth nothing": (
        HMDP, "np.where(inside, 0.0, fringe)", "np.where(inside, 0.0, 0.0 * fringe)",
        [ENUMERATING + "test_program_equals_backward_induction[tied]"]),
    "HMDP's program has its inequalities upside down": (
        HMDP, "A_ub=later - own, b_ub=-r.ravel()", "A_ub=own - later, b_ub=r.ravel()",
        [ENUMERATING + "test_program_equals_backward_induction[tied]"]),
    "HMDP's trajectories learn nothing": (
        HMDP, "add(m, s, a, e, 1.0)", "pass", [ENUMERATING + "test_many_trajectories_give_the_exact_values[tied]"]),
    "HMDP tries one action": (
        HMDP, "int(rng.random() * A)", "0", [ENUMERATING + "test_tree_is_sampled_like_a_naive_transcription[flat]"]),
    # sparse-sampling
    "sparse sampling forgets the discount": (
        "bayesrl.bamdp.search.sparse_sampling", "q += (r + gamma * v) / C", "q += (r + v) / C",
        [KNOWN + "test_sparse_sampling_equals_its_transcription_draw_for_draw[0.8]"]),
    "sparse sampling averages over actions": (
        "bayesrl.bamdp.search.sparse_sampling", "v = max(v, estimate(", "v = max(-np.inf, estimate(",
        [KNOWN + "test_sparse_sampling_equals_its_transcription_draw_for_draw[0.8]"]),
    # uct
    "UCT's bonus does not fall": (
        TREE, "else log_n / N[h, a]", "else log_n", [KNOWN + "test_uct_equals_its_transcription_in_law"]),
    # the constant "auto" of the UCB rule
    "returns are not centred before they are squared": (
        TREE, "spread[SQUARES] += off * (R - spread[MEAN])", "spread[SQUARES] += R * R",
        [BAMCP + "test_the_spread_is_that_of_the_returns"]),
    "deviations from the old mean alone": (
        TREE, "spread[SQUARES] += off * (R - spread[MEAN])", "spread[SQUARES] += off * off",
        [BAMCP + "test_the_spread_is_that_of_the_returns"]),
    "the constant is the variance of returns": (
        TREE, "np.sqrt(2.0 * spread[SQUARES] / max(n - 1, 1))", "2.0 * spread[SQUARES] / max(n - 1, 1)",
        [UNITS + "test_the_unit_of_rewards_does_not_matter"]),
    "the constant is one deviation": (
        TREE, "np.sqrt(2.0 * spread[SQUARES]", "np.sqrt(spread[SQUARES]",
        [BAMCP + "test_the_spread_is_that_of_the_returns"]),
    "auto is the author's 3": (
        TREE, "np.sqrt(2.0 * spread[SQUARES] / max(n - 1, 1))", "3.0",
        [UNITS + "test_the_unit_of_rewards_does_not_matter"]),
    "a constant given by name is not used": (
        TREE, "if c >= 0.0:", "if False:", [BAMCP + "test_a_number_given_by_name_is_the_constant"]),
    "the constant forgets the range of returns": (
        TREE, "(spread[HIGHEST] - spread[LOWEST]) / 3.0", "0.0", [BAMCP + "test_the_search_never_settles_for_good"]),
    "the range is the largest return": (
        TREE, "(spread[HIGHEST] - spread[LOWEST]) / 3.0", "spread[HIGHEST] / 3.0",
        [BAMCP + "test_the_spread_is_that_of_the_returns"]),
    "the range begins at zero": (
        TREE, "spread[LOWEST] = R if n == 1 else min(R, spread[LOWEST])", "spread[LOWEST] = min(R, spread[LOWEST])",
        [BAMCP + "test_the_spread_is_that_of_the_returns"]),
    "BAMCP forgets the returns when its tree grows": (
        "bayesrl.kernels.search.history_tree", "np.zeros(4) if kept is None else kept.spread.copy()", "np.zeros(4)",
        [BAMCP + "test_the_spread_is_that_of_the_returns", BAMCP + "test_the_kept_tree_keeps_the_spread_of_returns"]),
    "a kept tree has all the old squares": (
        "bayesrl.kernels.search.history_tree", "tree.spread[SQUARES] * count / tree.total[0]", "tree.spread[SQUARES]",
        [BAMCP + "test_the_kept_tree_keeps_the_spread_of_returns"]),
    "a kept tree has the old mean": (
        "bayesrl.kernels.search.history_tree", "tree.spread + (mean - tree.spread[MEAN])",
        "tree.spread + 0.0", [BAMCP + "test_the_kept_tree_keeps_the_spread_of_returns"]),
    "BAMCP counts its returns from one on": (
        "bayesrl.kernels.search.uct_on_histories", "add_return(tree.spread, R, total[0])", "add_return(tree.spread, R, total[0] + 1)",
        [BAMCP + "test_the_spread_is_that_of_the_returns"]),
    "UCT counts its returns from zero on": (
        "bayesrl.bamdp.search.uct", "add_return(spread, R, k + 1)", "add_return(spread, R, max(k, 1))",
        [KNOWN + "test_uct_equals_its_transcription_in_law"]),
    "UCT knows no return": (
        "bayesrl.bamdp.search.uct", "add_return(spread, R, k + 1)", "pass",
        [KNOWN + "test_uct_equals_its_transcription_in_law[auto-1-60]"]),
    "UCT mixes depths": (
        "bayesrl.bamdp.search.uct", "h = t * S + s", "h = s", [KNOWN + "test_uct_equals_its_transcription_in_law"]),
    "UCT forgets the discount": (
        "bayesrl.bamdp.search.uct", "R = path_r[i] + gamma * R", "R = path_r[i] + R",
        [KNOWN + "test_uct_equals_its_transcription_in_law"]),
    # fsss
    "FSSS weighs by nothing (not by how often a successor was drawn)": (
        TREE, "gap = tree.weight[h, a, i, DRAWN] * (U - L)", "gap = U - L",
        [KNOWN + "test_fsss_equals_its_transcription_draw_for_draw[10-0.8]"]),
    "FSSS follows the lower bound": (
        "bayesrl.bamdp.search.fsss", "a = highest(rng, tree.q[h, UPPER], scale)", "a = highest(rng, tree.q[h, LOWER], scale)",
        [KNOWN + "test_fsss_equals_its_transcription_draw_for_draw[10-0.8]"]),
    "FSSS takes what was not drawn for impossible": (
        TREE, "rest = max(rest, 0.0)", "rest = 0.0", [KNOWN + "test_fsss_bounds_bracket_and_tighten[1]"]),
    "FSSS does not share its nodes": (
        "bayesrl.bamdp.search.fsss", "if node[t + 1, y] < 0:", "if True:",
        [KNOWN + "test_fsss_equals_its_transcription_draw_for_draw[10-0.8]"]),
    # bayesian-sparse-sampling
    "BSS draws actions from the mean model": (
        SAMPLED, "dirichlet(rng, m.phi, g, m.size[g], theta[g])", "theta[g] = m.phi[g] / m.total[g]",
        [BSS + "test_equal_in_law_to_a_naive_transcription[small]"]),
    "BSS values leaves by the drawn model": (
        SAMPLED, "V[nodes] = q_of_mean(", "V[nodes] = q_of_draw(rng, ",
        [BSS + "test_a_leaf_is_worth_what_the_mean_model_of_its_own_posterior_promises"]),
    "BSS looks too far at the leaves": (
        SAMPLED, "q_of_mean(m, w, y, D - t,", "q_of_mean(m, w, y, D - t + 1,",
        [BSS + "test_a_leaf_is_worth_what_the_mean_model_of_its_own_posterior_promises"]),
    "BSS's drawn rewards are the means": (
        SAMPLED, "dirichlet(rng, m.pay, c, len(row), row)", "row[:] = m.pay[c] / m.pay_total[c]",
        [BSS + "test_actions_are_drawn_with_the_chance_of_being_best"]),
    "BSS's tables forget the last decision": (
        SAMPLED, "for s in range(S) if i < d - 1 else", "for s in range(S) if i < d - 2 else",
        [BSS + "test_a_leaf_is_worth_what_the_mean_model_of_its_own_posterior_promises"]),
    "BSS's supports have the prior's sizes": (
        SAMPLED, "size_law(k0, N, L, m.alpha, m.exponent, sizes)", "size_law(k0, k0, L, m.alpha, m.exponent, sizes)",
        [BSS + "test_drawn_supports_are_from_the_posterior[added0]"]),
    "BSS's supports are the first outcomes": (
        SAMPLED, "if need > 0.0 and uniform(rng) * rest < need:", "if need > 0.0:",
        [BSS + "test_drawn_supports_are_from_the_posterior[added0]"]),
    "BSS's sizes are of the row before": (
        SAMPLED, "if k0 != m.support[g, KINDS] or", "if",
        [BSS + "test_drawn_supports_are_from_the_posterior[added1]"]),
    "rows of a sparse prior are split": (
        ROWS, " and m.alpha == 0.0", "",
        [BSS + "test_rows_of_many_states_are_not_split_under_a_sparse_prior"]),
    "BSS's split rows learn something else": (
        SAMPLED, "add_outcome(w.split, m.group[s, a], e)", "add_outcome(w.split, m.group[s, a], 0)",
        [BSS + "test_a_leaf_of_split_rows_is_worth_what_the_mean_model_promises"]),
    "BSS's split rows keep what a descent has added": (
        SAMPLED, "        remove_outcome(w.split, m.group[s, a])", "        pass",
        [BSS + "test_a_leaf_of_split_rows_is_worth_what_the_mean_model_promises"]),
    "an outcome taken away stays": (
        ROWS, "c.size[g] -= 1", "pass", [BSS + "test_split_rows_have_the_mean_models_values"]),
    "what was added to a split row does not count": (
        ROWS, "c.total[g] += 1.0", "pass", [BSS + "test_split_rows_have_the_mean_models_values"]),
    "what all outcomes have in common is forgotten": (
        ROWS, "mean = x.share[g] * total", "mean = 0.0", [BSS + "test_split_rows_have_the_mean_models_values"]),
    "the rewards of what all have in common are forgotten": (
        ROWS, "x.r[g] = x.share[g] * c.reward_sum[g]", "x.r[g] = 0.0",
        [BSS + "test_split_rows_have_the_mean_models_values"]),
    "a look-ahead on split rows forgets a step": (
        ROWS, "gamma, v[(d - 1) % 2], sum", "gamma, v[d % 2], sum",
        [BSS + "test_split_rows_have_the_mean_models_values"]),
    "what was seen is certain": (
        ROWS, "rng.standard_gamma(c.n[j])", "c.n[j]", [BSS + "test_rows_drawn_in_pieces_are_dirichlet[1.0]"]),
    "the prior's weight is certain": (
        STICKS, "left, total = rng.standard_gamma(mass) if", "left, total = mass if",
        [BSS + "test_rows_drawn_in_pieces_are_dirichlet[1.0]"]),
    "pieces as if c were one": (
        STICKS, "uniform(rng) ** (1.0 / mass)", "uniform(rng)", [BSS + "test_rows_drawn_in_pieces_are_dirichlet[0.3]"]),
    "the stick is broken in halves": (
        STICKS, "x = uniform(rng) if mass == 1.0 else", "x = 0.5 if mass == 1.0 else",
        [BSS + "test_rows_drawn_in_pieces_are_dirichlet[1.0]"]),
    "pieces fall on the first half": (
        STICKS, "int(uniform(rng) * K)", "int(uniform(rng) * K / 2)",
        [BSS + "test_rows_drawn_in_pieces_are_dirichlet[1e-06]"]),
    # bfs3 and the replay of histories
    "BFS3's trajectories learn nothing": (
        "bayesrl.bamdp.search.bfs3", "replay(model, s, a, k)", "pass",
        [BFS3 + "test_bounds_bracket_the_exact_values[tied-8]"]),
    "BFS3's successors teach nothing": (
        "bayesrl.bamdp.search.bfs3", "replay(model, s0, a, k)", "pass",
        [BFS3 + "test_bounds_bracket_the_exact_values[tied-8]"]),
    "BFS3 believes the lower bound": (
        "bayesrl.bamdp.search.bfs3", "q[UPPER, a] += (r + leaves.gamma * tree.value[0, UPPER]) / C",
        "q[UPPER, a] += (r + leaves.gamma * tree.value[0, LOWER]) / C",
        [BFS3 + "test_equal_in_law_to_a_naive_transcription[small-3]"]),
    "draws of one node teach each other": (
        TREE, "undo(model, s, a, k)  #", "pass  #", [BFS3 + "test_bounds_bracket_the_exact_values[tied-8]"]),
    "what was not drawn is nothing at the root": (
        "bayesrl.bamdp.search.bfs3", "q[SURE_UPPER, a] += max(rest, 0.0) * leaves.range[D, 1]", "pass",
        [BFS3 + "test_bounds_bracket_the_exact_values[flat-1]"]),
    "a replayed outcome is never new": (
        REPLAY, "row.kinds += ONE", "pass", [BFS3 + "test_replay_and_undo_follow_the_belief[sparse]"]),
    "an undone outcome stays": (
        REPLAY, "row.kinds -= ONE", "pass", [BFS3 + "test_replay_and_undo_follow_the_belief[sparse]"]),
    "the reward of a replayed step is forgotten": (
        REPLAY, "put_ball(model.rewards, model.cell[s, a, k // V], k % V)", "pass",
        [BFS3 + "test_replay_and_undo_follow_the_belief[unknown]"]),
    # the infinite grid: coins, belief, and searches on them
    "both coins of an empty cell may show heads": (
        COINS, "r = uniform(rng) * (1.0 - p * q)", "r = uniform(rng)", [BELIEF + "test_posterior_matches_quadrature"]),
    "the coins of an empty cell are independent": (
        COINS, "v = 1 if u == 0 and r < p * (1.0 - q) + (1.0 - p) * q else 0", "v = 1 if rng.random() < q else 0",
        [BELIEF + "test_posterior_matches_quadrature"]),
    "an empty cell says nothing of its column": (
        COINS, "m.n[column, coin] += 1.0", "m.n[column, coin] += 1.0 if what != EMPTY else 0.0",
        [BELIEF + "test_posterior_matches_quadrature"]),
    "rows have the columns' prior": (
        GRID, "self.rows[::-1], self.columns[::-1]", "self.columns[::-1], self.rows[::-1]",
        [BELIEF + "test_posterior_matches_quadrature"]),
    "a restart leaves what was taken empty": (
        GRID, "THERE if what else EMPTY", "what", [BELIEF + "test_known_rewards_are_to_be_had_again_after_a_restart"]),
    "a simulated coin is not remembered": (
        COINS, "    m.n[slot, coin] += 1.0\n    return coin", "    return coin",
        [BELIEF + "test_coins_of_a_simulation_are_remembered_in_it"]),
    "a simulated reward can be had twice": (
        COINS, "        model.n[cell, 1] = 0.0\n        k = 1", "        k = 1",
        [BELIEF + "test_known_rewards_are_to_be_had_again_after_a_restart"]),
    "a simulation's cells stay": (
        COINS, "m.used[slot] = m.noted[t, 1] != 0", "pass", [BELIEF + "test_a_simulation_leaves_no_trace"]),
    "a cell told to be empty shows two tails": (
        COINS, "u = 1.0 if k == 1 else p * (1.0 - q) / (1.0 - p * q)", "u = 1.0 if k == 1 else 0.0",
        [BELIEF + "test_histories_are_replayed_and_taken_back"]),
    "all simulations of a search see the same coins": (
        COINS, "    else:\n        sweep(model, rng)", "", [SEARCH + "test_one_decision_gives_the_predictive"]),
    "rollouts turn back": (
        COINS, "(a + 3 + int(uniform(rng) * 3)) % 4", "(a + 2 + int(uniform(rng) * 3)) % 4",
        [BELIEF + "test_rollouts_do_not_turn_back"]),
    # the sparse prior
    "a support may be smaller than what was seen": (
        "bayesrl.kernels.sparse_urn", "in range(max(int(k0), 1), int(L) + 1)", "in range(1, int(L) + 1)",
        [SUPPORTS + "test_predictive_against_enumerated_supports[seen3]"]),
    "supports of one size are one support": (
        "bayesrl.kernels.sparse_urn", "        + math.lgamma(k + 1.0)\n", "",
        [SUPPORTS + "test_predictive_against_enumerated_supports[seen1]"]),
    "a drawn support is all outcomes": (
        SPARSE, "rank < k[:, None]", "rank < self.outcomes.size[:, None]", [SUPPORTS + "test_mean_of_sampled_models"]),
}  # fmt: skip


@pytest.mark.parametrize("name", MUTANTS)
def test_mutant_is_caught(name, assert_caught):
    assert_caught(name, *MUTANTS[name])
