"""Planted bugs of bayesrl.bamdp.search._lookahead."""

MODULE = "bayesrl.bamdp.search._lookahead"
PLANTED = {
    "the naive bound forgets a reward": (
        "high + gamma * v[d, 1]",
        "gamma * v[d, 1]",
        [
            "tests/bamdp/search/test_enumerating_search.py::test_bounds_bracket_the_exact_values_of_every_hyper_state[flat]"
        ],
    ),
    "BOP presumes rewards from nought": (
        "low, high = reward_range",
        "low, high = 0.0, reward_range[1]",
        [
            "tests/bamdp/search/test_enumerating_search.py::test_bop_bounds_bracket_the_exact_values_and_never_widen[flat]"
        ],
    ),
}
