"""Planted bugs of bayesrl.beliefs.arms.poisson_arm."""

MODULE = "bayesrl.beliefs.arms.poisson_arm"
PLANTED = {
    "a second log forgets the factorials of the first": (
        "frozen(self.factorials + factorials)",
        "frozen(factorials)",
        ["tests/beliefs/test_plumbing.py::test_one_log_is_several[poisson-arm, large counts]"],
    ),
}
