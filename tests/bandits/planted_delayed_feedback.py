"""Planted bugs of bayesrl.bandits.delayed_feedback."""

MODULE = "bayesrl.bandits.delayed_feedback"
PLANTED = {
    "what waits is lost at an end": (
        "queue = (*mind.queue, transition)",
        "queue = (*(() if transition.ends_episode else mind.queue), transition)",
        ["tests/bandits/test_feedback.py::test_what_waits_is_learned_in_order_over_the_ends_of_episodes"],
    ),
}
