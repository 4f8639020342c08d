"""Planted bugs of bayesrl.live."""

MODULE = "bayesrl.live"
PLANTED = {
    "a warm start uses the stream of the planner": (
        "_call_or_restore(self.streams.learning, learnt)",
        "_call_or_restore(self.streams.planner, learnt)",
        ["tests/test_live.py::test_warm_start_of_beliefs_that_learn_otherwise"],
    ),
}
