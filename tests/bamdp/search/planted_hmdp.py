"""Planted bugs of bayesrl.bamdp.search.hmdp."""

MODULE = "bayesrl.bamdp.search.hmdp"
PLANTED = {
    "HMDP's fringe is worth nothing": (
        "np.where(inside, 0.0, fringe)",
        "np.where(inside, 0.0, 0.0 * fringe)",
        ["tests/bamdp/search/test_enumerating_search.py::test_program_equals_backward_induction[tied]"],
    ),
    "HMDP's program has its inequalities upside down": (
        "A_ub=later - own, b_ub=-r.ravel()",
        "A_ub=own - later, b_ub=r.ravel()",
        ["tests/bamdp/search/test_enumerating_search.py::test_program_equals_backward_induction[tied]"],
    ),
    "HMDP's trajectories learn nothing": (
        "add(m, s, a, e, 1.0)",
        "pass",
        ["tests/bamdp/search/test_enumerating_search.py::test_many_trajectories_give_the_exact_values[tied]"],
    ),
    "HMDP tries one action": (
        "int(rng.random() * A)",
        "0",
        ["tests/bamdp/search/test_enumerating_search.py::test_tree_is_sampled_like_a_naive_transcription[flat]"],
    ),
}
