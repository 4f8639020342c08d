"""Planted bugs of bayesrl.beliefs.pomdp.hyper_states."""

MODULE = "bayesrl.beliefs.pomdp.hyper_states"
PLANTED = {
    "counts go up before the weight": (
        "p = w * (x[k] / moves) * (z[j] / shows)",
        "p = w * (x[k] / moves) * ((z[j] + m.learnt[r]) / (shows + m.learnt[r]))",
        ["tests/beliefs/pomdp/test_bapomdp_beliefs.py::test_equals_the_sum_over_hidden_paths"],
    ),
    "a restart keeps the state": (
        "b = Branches(np.zeros(N), np.full(N, FRESH), zero,",
        "b = Branches(np.zeros(N), h.state.copy(), zero,",
        ["tests/beliefs/pomdp/test_bapomdp_beliefs.py::test_equals_the_sum_over_hidden_paths"],
    ),
    "hyper-states of different counts merge": (
        "b.key[i] == b.key[n] and b.state[i] == b.state[n] and same_counts(h, b, i, n, pad)",
        "b.state[i] == b.state[n]",
        ["tests/beliefs/pomdp/test_bapomdp_beliefs.py::test_equals_the_sum_over_hidden_paths"],
    ),
    "lists of the same cells merge, whatever their counts": (
        ("    n = 0\n    for t in range(h.first[b.root[i]]"),
        ("    return 0\n    for t in range(h.first[b.root[i]]"),
        ["tests/beliefs/pomdp/test_bapomdp_beliefs.py::test_lists_are_compared_count_by_count"],
    ),
    "equal hyper-states do not merge": (
        ("            b.weight[i] += b.weight[n]\n            return 0\n"),
        "            pass\n",
        ["tests/beliefs/pomdp/test_bapomdp_beliefs.py::test_equals_the_sum_over_hidden_paths"],
    ),
    "a tie is broken: the count goes to the pair's own row": (
        "insert(new.path[n], g * W + k, m.mix)",
        "insert(new.path[n], s * W + k, m.mix)",
        ["tests/beliefs/pomdp/test_bapomdp_beliefs.py::test_equals_the_sum_over_hidden_paths"],
    ),
    "outcomes of one state are taken together": (
        "key = (key + insert(new.path[n], g * W + k, m.mix)) % KEYS",
        "key = (key + insert(new.path[n], g * W + m.succ[s, a, k], m.mix)) % KEYS",
        ["tests/beliefs/pomdp/test_bapomdp_beliefs.py::test_equals_the_sum_over_hidden_paths"],
    ),
    "known rows are counted": (
        ("if m.learnt[r] and shows < m.bound:\n                        key"),
        ("if shows < m.bound:\n                        key"),
        ["tests/beliefs/pomdp/test_bapomdp_beliefs.py::test_equals_the_sum_over_hidden_paths"],
    ),
    "the end of an episode is not looked at": (
        "if w * x[k] == 0.0 or m.terminal[y] != ended:",
        "if w * x[k] == 0.0:",
        ["tests/beliefs/pomdp/test_bapomdp_beliefs.py::test_equals_the_sum_over_hidden_paths"],
    ),
    "a terminal state is left": (
        "move = np.where(outcomes.terminal[:, None], G, outcomes.group)",
        "move = outcomes.group",
        ["tests/beliefs/pomdp/test_bapomdp_beliefs.py::test_nothing_is_learnt_after_the_end"],
    ),
    "what is seen tells of the old state": (
        (
            "                r = m.show[y, a]\n"
            "                shows = counts_in(m, h, e.root[i], e.path[i], r, z)\n"
            "                for j in range(m.size[r]):\n"
            "                    p = w"
        ),
        (
            "                r = m.show[s, a]\n"
            "                shows = counts_in(m, h, e.root[i], e.path[i], r, z)\n"
            "                for j in range(m.size[r]):\n"
            "                    p = w"
        ),
        ["tests/beliefs/pomdp/test_bapomdp_beliefs.py::test_equals_the_sum_over_hidden_paths"],
    ),
    "a row is counted at the bound": (
        ("if m.learnt[r] and shows < m.bound:\n                        key"),
        ("if m.learnt[r] and shows <= m.bound:\n                        key"),
        ["tests/beliefs/pomdp/test_bapomdp_beliefs.py::test_rows_are_counted_up_to_the_bound"],
    ),
    "the tree forgets what it counted": (
        "                    new.path[n] = e.path[i]\n",
        "                    new.path[n] = pad\n",
        ["tests/bapomdp/test_bapomdp_search.py::test_equals_brute_force_at_every_depth"],
    ),
}
