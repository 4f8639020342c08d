"""Planted bugs of bayesrl.kernels.random.stick_breaking."""

MODULE = "bayesrl.kernels.random.stick_breaking"
PLANTED = {
    "pieces of a stick know nothing of the counts": (
        "uniform(rng) ** (1.0 / mass)",
        "uniform(rng)",
        ["tests/beliefs/mdp/test_dirichlet_sticks.py::test_rows_are_like_those_of_gammas[65-0.001-seen5]"],
    ),
    "what is seen weighs too much": (
        "rng.standard_gamma(np.rint(alpha[g, y] - a[g]))",
        "rng.standard_gamma(alpha[g, y] + 1.0)",
        ["tests/beliefs/mdp/test_dirichlet_sticks.py::test_rows_are_like_those_of_gammas[64-0.015625-seen1]"],
    ),
    "the prior's part is its mean": (
        "left, total = rng.standard_gamma(mass) if",
        "left, total = mass if",
        ["tests/beliefs/mdp/test_dirichlet_sticks.py::test_rows_are_like_those_of_gammas[64-0.015625-seen1]"],
    ),
    "a stick is thrown away too early": (
        "LEFT = 2.0**-54",
        "LEFT = 2.0**-20",
        ["tests/beliefs/mdp/test_dirichlet_sticks.py::test_rows_sum_to_one_however_small_the_counts"],
    ),
    "the stick is broken in halves": (
        "x = uniform(rng) if mass == 1.0 else",
        "x = 0.5 if mass == 1.0 else",
        ["tests/bamdp/search/test_bss.py::test_rows_drawn_in_pieces_are_dirichlet[1.0]"],
    ),
    "pieces fall on the first half": (
        "int(uniform(rng) * K)",
        "int(uniform(rng) * K / 2)",
        ["tests/bamdp/search/test_bss.py::test_rows_drawn_in_pieces_are_dirichlet[1e-06]"],
    ),
}
