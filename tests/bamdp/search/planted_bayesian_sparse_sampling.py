"""Planted bugs of bayesrl.bamdp.search.bayesian_sparse_sampling."""

MODULE = "bayesrl.bamdp.search.bayesian_sparse_sampling"
PLANTED = {
    "BSS draws actions from the mean model": (
        "dirichlet(rng, m.phi, g, m.size[g], theta[g])",
        "theta[g] = m.phi[g] / m.total[g]",
        ["tests/bamdp/search/test_bss.py::test_equal_in_law_to_a_naive_transcription[small]"],
    ),
    "BSS values leaves by the drawn model": (
        "V[nodes] = q_of_mean(",
        "V[nodes] = q_of_draw(rng, ",
        ["tests/bamdp/search/test_bss.py::test_a_leaf_is_worth_what_the_mean_model_of_its_own_posterior_promises"],
    ),
    "BSS looks too far at the leaves": (
        "q_of_mean(m, w, y, D - t,",
        "q_of_mean(m, w, y, D - t + 1,",
        ["tests/bamdp/search/test_bss.py::test_a_leaf_is_worth_what_the_mean_model_of_its_own_posterior_promises"],
    ),
    "BSS's drawn rewards are the means": (
        "dirichlet(rng, m.pay, c, len(row), row)",
        "row[:] = m.pay[c] / m.pay_total[c]",
        ["tests/bamdp/search/test_bss.py::test_actions_are_drawn_with_the_chance_of_being_best"],
    ),
    "BSS's tables forget the last decision": (
        "for s in range(S) if i < d - 1 else",
        "for s in range(S) if i < d - 2 else",
        ["tests/bamdp/search/test_bss.py::test_a_leaf_is_worth_what_the_mean_model_of_its_own_posterior_promises"],
    ),
    "BSS's supports have the prior's sizes": (
        "size_law(k0, N, L, m.alpha, m.exponent, sizes)",
        "size_law(k0, k0, L, m.alpha, m.exponent, sizes)",
        ["tests/bamdp/search/test_bss.py::test_drawn_supports_are_from_the_posterior[added0]"],
    ),
    "BSS's supports are the first outcomes": (
        "if need > 0.0 and uniform(rng) * rest < need:",
        "if need > 0.0:",
        ["tests/bamdp/search/test_bss.py::test_drawn_supports_are_from_the_posterior[added0]"],
    ),
    "BSS's sizes are of the row before": (
        "if k0 != m.support[g, KINDS] or",
        "if",
        ["tests/bamdp/search/test_bss.py::test_drawn_supports_are_from_the_posterior[added1]"],
    ),
    "BSS's split rows learn something else": (
        "add_outcome(w.split, m.group[s, a], e)",
        "add_outcome(w.split, m.group[s, a], 0)",
        ["tests/bamdp/search/test_bss.py::test_a_leaf_of_split_rows_is_worth_what_the_mean_model_promises"],
    ),
    "BSS's split rows keep what a descent has added": (
        "        remove_outcome(w.split, m.group[s, a])",
        "        pass",
        ["tests/bamdp/search/test_bss.py::test_a_leaf_of_split_rows_is_worth_what_the_mean_model_promises"],
    ),
}
