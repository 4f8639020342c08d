"""Planted bugs of bayesrl.bamdp.offline.bamdp_exact."""

MODULE = "bayesrl.bamdp.offline.bamdp_exact"
PLANTED = {
    "discount forgotten in the exact recursion": (
        "+ self.gamma * values.get(new, 0.0)",
        "+ values.get(new, 0.0)",
        ["tests/bamdp/offline/test_exact.py"],
    ),
    "wrong group in the exact recursion": (
        "self.rows[self.o.group[s, a]]",
        "self.rows[self.o.group[s, 0]]",
        ["tests/bamdp/offline/test_exact.py"],
    ),
    "reward of the wrong outcome": (
        "self.o.reward[s, a, k]",
        "self.o.reward[s, a, 0]",
        ["tests/bamdp/offline/test_exact.py"],
    ),
    "counts of another order merged": (
        "self.base = horizon + 1",
        "self.base = max(horizon - 2, 1)",
        ["tests/bamdp/offline/test_exact.py"],
    ),
    "the exact solution never counts its decisions": (
        "left - 1, {",
        "left, {",
        ["tests/bamdp/offline/test_exact.py::test_the_solution_earns_what_it_promises"],
    ),
}
