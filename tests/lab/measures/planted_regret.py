"""Planted bugs of bayesrl.lab.measures.regret."""

MODULE = "bayesrl.lab.measures.regret"
PLANTED = {
    "regret with the wrong sign": (
        "self.judged.average_reward - reward",
        "reward - self.judged.average_reward",
        ["tests/continuous/test_lazy_psrl.py::test_regret_on_the_family"],
    ),
}
