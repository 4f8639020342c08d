"""Planted bugs of bayesrl.bamdp.search._split_rows."""

MODULE = "bayesrl.bamdp.search._split_rows"
PLANTED = {
    "rows of a sparse prior are split": (
        " and m.alpha == 0.0",
        "",
        ["tests/bamdp/search/test_bss.py::test_rows_of_many_states_are_not_split_under_a_sparse_prior"],
    ),
    "an outcome taken away stays": (
        "c.size[g] -= 1",
        "pass",
        ["tests/bamdp/search/test_bss.py::test_split_rows_have_the_mean_models_values"],
    ),
    "what was added to a split row does not count": (
        "c.total[g] += 1.0",
        "pass",
        ["tests/bamdp/search/test_bss.py::test_split_rows_have_the_mean_models_values"],
    ),
    "what all outcomes have in common is forgotten": (
        "mean = x.share[g] * total",
        "mean = 0.0",
        ["tests/bamdp/search/test_bss.py::test_split_rows_have_the_mean_models_values"],
    ),
    "the rewards of what all have in common are forgotten": (
        "x.r[g] = x.share[g] * c.reward_sum[g]",
        "x.r[g] = 0.0",
        ["tests/bamdp/search/test_bss.py::test_split_rows_have_the_mean_models_values"],
    ),
    "a look-ahead on split rows forgets a step": (
        "gamma, v[(d - 1) % 2], sum",
        "gamma, v[d % 2], sum",
        ["tests/bamdp/search/test_bss.py::test_split_rows_have_the_mean_models_values"],
    ),
    "what was seen is certain": (
        "rng.standard_gamma(c.n[j])",
        "c.n[j]",
        ["tests/bamdp/search/test_bss.py::test_rows_drawn_in_pieces_are_dirichlet[1.0]"],
    ),
}
