"""Planted bugs of bayesrl.beliefs.arms.forgetting."""

MODULE = "bayesrl.beliefs.arms.forgetting"
PLANTED = {
    "plays count what a given belief had seen before": (
        "prior = dataclasses.replace(prior)",
        "prior = prior",
        ["tests/beliefs/test_plumbing.py::test_plays_are_counted_from_the_prior_on[forgetting, of a posterior]"],
    ),
}
