"""Planted bugs of bayesrl.bandits.batched_feedback."""

MODULE = "bayesrl.bandits.batched_feedback"
PLANTED = {
    "a batch closes at an end": (
        "if len(queue) < self.every:",
        "if len(queue) < self.every and not transition.ends_episode:",
        ["tests/bandits/test_feedback.py::test_what_waits_is_learned_in_order_over_the_ends_of_episodes"],
    ),
}
