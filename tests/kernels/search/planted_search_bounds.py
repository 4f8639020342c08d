"""Planted bugs of bayesrl.kernels.search.search_bounds."""

MODULE = "bayesrl.kernels.search.search_bounds"
PLANTED = {
    "UCT's bonus does not fall": (
        "else log_n / N[h, a]",
        "else log_n",
        ["tests/bamdp/search/test_known_model_search.py::test_uct_equals_its_transcription_in_law"],
    ),
    "returns are not centred before they are squared": (
        "spread[SQUARES] += off * (R - spread[MEAN])",
        "spread[SQUARES] += R * R",
        ["tests/bamdp/search/test_bamcp.py::test_the_spread_is_that_of_the_returns"],
    ),
    "deviations from the old mean alone": (
        "spread[SQUARES] += off * (R - spread[MEAN])",
        "spread[SQUARES] += off * off",
        ["tests/bamdp/search/test_bamcp.py::test_the_spread_is_that_of_the_returns"],
    ),
    "the constant is one deviation": (
        "np.sqrt(2.0 * spread[SQUARES]",
        "np.sqrt(spread[SQUARES]",
        ["tests/bamdp/search/test_bamcp.py::test_the_spread_is_that_of_the_returns"],
    ),
    "auto is the author's 3": (
        "np.sqrt(2.0 * spread[SQUARES] / max(n - 1, 1))",
        "3.0",
        ["tests/bamdp/test_units.py::test_the_unit_of_rewards_does_not_matter"],
    ),
    "a constant given by name is not used": (
        "if c >= 0.0:",
        "if False:",
        ["tests/bamdp/search/test_bamcp.py::test_a_number_given_by_name_is_the_constant"],
    ),
    "the constant forgets the range of returns": (
        "(spread[HIGHEST] - spread[LOWEST]) / 3.0",
        "0.0",
        ["tests/bamdp/search/test_bamcp.py::test_the_search_never_settles_for_good"],
    ),
    "the range is the largest return": (
        "(spread[HIGHEST] - spread[LOWEST]) / 3.0",
        "spread[HIGHEST] / 3.0",
        ["tests/bamdp/search/test_bamcp.py::test_the_spread_is_that_of_the_returns"],
    ),
    "the range begins at zero": (
        "spread[LOWEST] = R if n == 1 else min(R, spread[LOWEST])",
        "spread[LOWEST] = min(R, spread[LOWEST])",
        ["tests/bamdp/search/test_bamcp.py::test_the_spread_is_that_of_the_returns"],
    ),
    "FSSS weighs by nothing (not by how often a successor was drawn)": (
        "gap = tree.weight[h, a, i, DRAWN] * (U - L)",
        "gap = U - L",
        ["tests/bamdp/search/test_known_model_search.py::test_fsss_equals_its_transcription_draw_for_draw[10-0.8]"],
    ),
    "FSSS takes what was not drawn for impossible": (
        "rest = max(rest, 0.0)",
        "rest = 0.0",
        ["tests/bamdp/search/test_known_model_search.py::test_fsss_bounds_bracket_and_tighten[1]"],
    ),
    "draws of one node teach each other": (
        "undo(model, s, a, k)  #",
        "pass  #",
        ["tests/bamdp/search/test_bfs3.py::test_bounds_bracket_the_exact_values[tied-8]"],
    ),
}
