"""Planted bugs of bayesrl.models.solvers.modified_policy_iteration."""

MODULE = "bayesrl.models.solvers.modified_policy_iteration"
PLANTED = {
    "gathered rows are not discounted": (
        "m.gamma * m.prob[g, k]) if",
        "m.prob[g, k]) if",
        ["tests/models/solvers/test_solvers.py::test_gathered_sweeps_equal_plain_ones"],
    ),
    "a gathered row is never replaced": (
        "if pi[s] == there[s]:",
        "if there[s] >= 0:",
        ["tests/models/solvers/test_solvers.py::test_gathered_sweeps_equal_plain_ones"],
    ),
    "the shift of gathered rows is not discounted": (
        "shift = gamma * shift + c",
        "shift = shift + c",
        ["tests/models/solvers/test_solvers.py::test_gathered_sweeps_equal_plain_ones"],
    ),
    "sweeps on a cycle never give up": (
        "    last = policy_iteration(m, found.values, target)\n",
        "    last = found\n",
        ["tests/models/solvers/test_solvers.py::test_cycles_at_a_discount_near_one[0]"],
    ),
}
