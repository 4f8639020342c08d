"""Planted bugs of bayesrl.bapomdp.bapomdp_branch_and_bound."""

MODULE = "bayesrl.bapomdp.bapomdp_branch_and_bound"
PLANTED = {
    "branches of different roots share bounds": (
        "        e.key[i] = (e.key[i] + i) % KEYS\n",
        "        pass\n",
        [
            "tests/bapomdp/test_bapomdp_search.py::test_branch_and_bound_has_the_same_values_with_no_more_nodes[all unknown-optimistic-zero]"
        ],
    ),
    "the lower bound sees the state": (
        "        q += e.weight[i] * low[e.root[i] if low.shape[0] > 1 else 0, d, e.state[i]]\n",
        "        q += e.weight[i] * low[e.root[i] if low.shape[0] > 1 else 0, d, e.state[i]].max()\n",
        [
            "tests/bapomdp/test_bapomdp_search.py::test_branch_and_bound_has_the_same_values_with_no_more_nodes[all unknown-optimistic-zero]"
        ],
    ),
    "the upper bound adds no counts": (
        "n = float(D - d) if m.learnt[g] else 0.0",
        "n = 0.0",
        ["tests/bapomdp/test_bapomdp_search.py::test_bounds_bracket_the_values"],
    ),
    "an abandoned action counts": (
        ("            if v <= need:\n                break\n"),
        ("            if v <= need:\n                q = best + 1.0\n"),
        [
            "tests/bapomdp/test_bapomdp_search.py::test_branch_and_bound_has_the_same_values_with_no_more_nodes[all unknown-optimistic-zero]"
        ],
    ),
}
