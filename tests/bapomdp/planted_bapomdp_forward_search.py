"""Planted bugs of bayesrl.bapomdp.bapomdp_forward_search."""

MODULE = "bayesrl.bapomdp.bapomdp_forward_search"
PLANTED = {
    "no discount at the leaf": (
        "        q += t.gamma * v\n",
        "        q += (t.gamma if d > 1 else 1.0) * v\n",
        ["tests/bapomdp/test_bapomdp_search.py::test_leaves_are_qmdp_of_the_mean_model"],
    ),
    "values after the end": (
        "new = step(m, h, e, a, o, False)",
        "new = step(m, h, e, a, o, bool(o))",
        ["tests/bapomdp/test_bapomdp_search.py::test_equals_brute_force_at_every_depth[terminal]"],
    ),
}
