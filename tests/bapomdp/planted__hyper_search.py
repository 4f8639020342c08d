"""Planted bugs of bayesrl.bapomdp._hyper_search."""

MODULE = "bayesrl.bapomdp._hyper_search"
PLANTED = {
    "the leaf chooses by the state": (
        "        q += e.weight[i] * leaf[e.state[i]]\n",
        "        q += e.weight[i] * leaf[e.state[i]].max()\n",
        ["tests/bapomdp/test_bapomdp_search.py::test_leaves_are_qmdp_of_the_mean_model"],
    ),
    "the reward of the state that was reached": (
        "total += p * m.reward[s, a, y, 0]",
        "total += p * m.reward[y, a, s, 0]",
        ["tests/bapomdp/test_bapomdp_search.py::test_equals_brute_force_at_every_depth[paid by next state]"],
    ),
}
