"""Planted bugs of bayesrl.kernels.search.uct_on_histories."""

MODULE = "bayesrl.kernels.search.uct_on_histories"
PLANTED = {
    "a chunk may take all the time": (
        "0.1 * seconds / lap",
        "10.0 * seconds / lap",
        ["tests/bamdp/search/test_bamcp.py::test_the_time_is_used_and_not_exceeded"],
    ),
    "compiling counts as searching": (
        ("    if perf_counter() - began > seconds + COMPILING:\n        began = perf_counter()\n"),
        "",
        ["tests/bamdp/search/test_bamcp.py::test_the_time_is_used_and_not_exceeded"],
    ),
    "no discount at the leaf": (
        "R += discount * V0[s]",
        "R += V0[s]",
        ["tests/bapomdp/test_pomcp.py::test_one_simulation_by_hand"],
    ),
    "masked actions were visited": (
        "n = np.where(q == -np.inf, 0, tree.N[0])",
        "n = tree.N[0].copy()",
        ["tests/worlds/pomdps/test_rock_sample.py::test_searches_have_the_same_values"],
    ),
    "what cannot be shared out evenly is the first action's": (
        "P = np.full((S + 1, M), REDRAW)",
        "P = np.zeros((S + 1, M), np.uint16)",
        ["tests/bamdp/search/test_bamcp.py::test_rollouts_are_epsilon_greedy_with_ties_at_random"],
    ),
    "a leaf is worth nothing": (
        "R += discount * V0[s]",
        "pass",
        ["tests/bamdp/search/test_bamcp.py::test_the_leaf_is_worth_what_the_mean_model_promises"],
    ),
    "discount forgotten in the search": (
        "R = path_r[t] + gamma * R",
        "R = path_r[t] + R",
        ["tests/bamdp/search/test_bamcp.py::test_equal_in_law_to_a_naive_transcription"],
    ),
    "histories with different outcomes are one": (
        "int(k) * A + a",
        "a",
        ["tests/bamdp/search/test_bamcp.py::test_equal_in_law_to_a_naive_transcription"],
    ),
    "BAMCP counts its returns from one on": (
        "add_return(tree.spread, R, total[0])",
        "add_return(tree.spread, R, total[0] + 1)",
        ["tests/bamdp/search/test_bamcp.py::test_the_spread_is_that_of_the_returns"],
    ),
}
