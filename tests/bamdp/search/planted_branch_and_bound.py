"""Planted bugs of bayesrl.bamdp.search.branch_and_bound."""

MODULE = "bayesrl.bamdp.search.branch_and_bound"
PLANTED = {
    "bounds are taken for values before the last decision": (
        "if d == 1 or",
        "if d <= 2 or",
        ["tests/bamdp/search/test_enumerating_search.py::test_values_of_forward_search[flat-optimistic]"],
    ),
    "unknown rewards may not improve": (
        "(mean + n * m.values.max()) / (m.pay_total[c] + n)",
        "mean / m.pay_total[c]",
        [
            "tests/bamdp/search/test_enumerating_search.py::test_bounds_bracket_the_exact_values_of_every_hyper_state[unknown]"
        ],
    ),
    "optimism of one outcome for all those to come": (
        "n = (D - d) * m.gain[g]",
        "n = min(D - d, 1) * m.gain[g]",
        [
            "tests/bamdp/search/test_enumerating_search.py::test_bounds_bracket_the_exact_values_of_every_hyper_state[tied]"
        ],
    ),
    "the mean model taken for a bound": (
        "n = (D - d) * m.gain[g]",
        "n = 0.0 * m.gain[g]",
        ["tests/bamdp/search/test_enumerating_search.py::test_values_of_forward_search[tied-optimistic]"],
    ),
    "the Dirichlet's bound under a sparse prior": (
        "if m.alpha > 0.0:",
        "if m.alpha < 0.0:",
        [
            "tests/bamdp/search/test_enumerating_search.py::test_bounds_bracket_the_exact_values_of_every_hyper_state[sparse]"
        ],
    ),
    "a sparse bound of the outcomes seen alone": (
        "for j in range(min(n, u) + 1):",
        "for j in range(1):",
        [
            "tests/bamdp/search/test_enumerating_search.py::test_bounds_bracket_the_exact_values_of_every_hyper_state[sparse]"
        ],
    ),
    "a sparse bound of outcomes that are all new": (
        "again = (i - j) * top if i > j else 0.0",
        "again = 0.0",
        ["tests/bamdp/search/test_enumerating_search.py::test_highest_mean_is_that_of_the_best_outcomes_to_come[4]"],
    ),
    "a value comes in and its bound stays": (
        "q -= weight * t.upper[d - 1, y]",
        "pass",
        ["tests/bamdp/search/test_enumerating_search.py::test_values_of_forward_search[tied-optimistic]"],
    ),
    "too much is asked of a branch": (
        "need = (best - q) / weight",
        "need = (best - q) / (weight * t.gamma)",
        ["tests/bamdp/search/test_enumerating_search.py::test_values_of_forward_search_on_random_beliefs[optimistic]"],
    ),
    "nothing is pruned": (
        "not x[a] > best:",
        "x[a] == -np.inf:",
        ["tests/bamdp/search/test_enumerating_search.py::test_fewer_nodes"],
    ),
}
