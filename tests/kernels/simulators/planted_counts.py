"""Planted bugs of bayesrl.kernels.simulators.counts."""

MODULE = "bayesrl.kernels.simulators.counts"
PLANTED = {
    "a known row is counted": (
        "m.phi[g, k] += by * m.gain[g]",
        "m.phi[g, k] += by",
        ["tests/bamdp/search/test_enumerating_search.py::test_bop_equals_a_naive_transcription[half-known-3]"],
    ),
    "the total is not counted": (
        "m.total[g] += by * m.gain[g]",
        "pass",
        ["tests/bamdp/search/test_enumerating_search.py::test_equal_to_exact_values_at_every_depth[tied]"],
    ),
    "rewards teach nothing": (
        "m.pay[c, e % V] += by",
        "pass",
        ["tests/bamdp/search/test_enumerating_search.py::test_equal_to_exact_values_at_every_depth[unknown]"],
    ),
    "a new kind is not counted": (
        "if m.phi[g, k] == max(by, 0.0):",
        "if m.phi[g, k] == 0.0:",
        ["tests/bamdp/search/test_enumerating_search.py::test_equal_to_exact_values_at_every_depth[sparse]"],
    ),
    "a kind that has gone stays": (
        "if m.phi[g, k] == max(by, 0.0):",
        "if m.phi[g, k] == 1.0 and by > 0.0:",
        ["tests/bamdp/search/test_enumerating_search.py::test_sparse_counts_follow_the_belief[sparse]"],
    ),
    "the weight of another size": (
        "kept = m.size[g] == m.phi.shape[1] and",
        "kept =",
        ["tests/bamdp/search/test_enumerating_search.py::test_sparse_counts_follow_the_belief[sparse ends]"],
    ),
    "nothing new comes": (
        "if n > 0.0 else m.support[g, NEWS]",
        "if n > 0.0 else 0.0",
        ["tests/bamdp/search/test_enumerating_search.py::test_equal_to_exact_values_at_every_depth[sparse]"],
    ),
    "what was seen weighs what was seen alone": (
        "return (m.alpha + n) / m.total[g]",
        "return n / m.total[g]",
        ["tests/bamdp/search/test_enumerating_search.py::test_equal_to_exact_values_at_every_depth[sparse]"],
    ),
    "a sum is used after its row was added to": (
        "if sums.added[m.group[s, a]] > 0:",
        "if sums.added[m.group[s, a]] > 9:",
        ["tests/bamdp/search/test_enumerating_search.py::test_equal_to_exact_values_at_every_depth[tied]"],
    ),
    "a sum is kept from a row that was added to": (
        ("return summed(m, s, a, gamma, v)\n    if"),
        ("sums.table[d, s, a] = summed(m, s, a, gamma, v)\n    if"),
        ["tests/bamdp/search/test_enumerating_search.py::test_equal_to_exact_values_at_every_depth[flat]"],
    ),
    "sums of another level": (
        "if np.isnan(sums.table[d, s, a]):",
        ("d = 0\n    if np.isnan(sums.table[d, s, a]):"),
        ["tests/bamdp/search/test_enumerating_search.py::test_values_of_forward_search[flat-optimistic]"],
    ),
}
