"""Planted bugs of bayesrl.bamdp.search.forward_search."""

MODULE = "bayesrl.bamdp.search.forward_search"
PLANTED = {
    "forward search forgets the discount": (
        "q += p * (r + t.gamma * v)",
        "q += p * (r + v)",
        ["tests/bamdp/search/test_enumerating_search.py::test_equal_to_exact_values_at_every_depth[flat]"],
    ),
    "forward search learns nothing on its way": (
        "follow(m, t.sums, s, a, e, 1.0)",
        "pass",
        ["tests/bamdp/search/test_enumerating_search.py::test_equal_to_exact_values_at_every_depth[tied]"],
    ),
    "forward search does not forget on its way back (the survey's Algorithm 1 without its last line)": (
        "follow(m, t.sums, s, a, e, -1.0)",
        "pass",
        ["tests/bamdp/search/test_enumerating_search.py::test_equal_to_exact_values_at_every_depth[tied]"],
    ),
    "forward search looks one step too far": (
        "if d == 2:",
        "if d == 1:",
        ["tests/bamdp/search/test_enumerating_search.py::test_equal_to_exact_values_at_every_depth[tied]"],
    ),
}
