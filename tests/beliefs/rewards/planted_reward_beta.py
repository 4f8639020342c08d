"""Planted bugs of bayesrl.beliefs.rewards.reward_beta."""

MODULE = "bayesrl.beliefs.rewards.reward_beta"
PLANTED = {
    "update in place in a reward": (
        "new = counts.copy()",
        ("new = counts\n    new.setflags(write=True)"),
        ["tests/beliefs/test_laws.py::test_belief_laws[reward-beta]"],
    ),
    "the survey's misprinted Beta update": (
        "add_at(getattr(self, field), cell, 1.0)",
        "add_at(self.beta if not win else self.alpha, cell, 1.0 if win else -0.5)",
        ["tests/beliefs/test_laws.py::test_belief_laws[reward-beta]"],
    ),
}
