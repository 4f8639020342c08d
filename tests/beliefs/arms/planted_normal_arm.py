"""Planted bugs of bayesrl.beliefs.arms.normal_arm."""

MODULE = "bayesrl.beliefs.arms.normal_arm"
PLANTED = {
    "means in lockstep are drawn once for all": (
        "standard_normal(self.mean_.shape)",
        "standard_normal(self.mean_.shape[-1:])",
        ["tests/beliefs/test_laws.py::test_belief_laws[normal-arm]"],
    ),
    "a second log forgets the squares of the first": (
        "frozen(self.spread + within +",
        "frozen(within +",
        ["tests/beliefs/test_plumbing.py::test_one_log_is_several[normal-arm]"],
    ),
}
