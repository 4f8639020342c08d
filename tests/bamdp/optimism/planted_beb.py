"""Planted bugs of bayesrl.bamdp.optimism.beb."""

MODULE = "bayesrl.bamdp.optimism.beb"
PLANTED = {
    "the bonus falls as 1/sqrt(n)": (
        "(1.0 + belief.counts())",
        "(1.0 + belief.counts()) ** 0.5",
        ["tests/bamdp/test_planners.py::test_beb_equals_its_transcription"],
    ),
    "the bonus forgets the prior's counts": (
        "1.0 + belief.counts()",
        "1.0 + belief.counts() - belief._prior.sum(axis=1)[belief.group]",
        ["tests/bamdp/test_planners.py::test_beb_equals_its_transcription"],
    ),
    "BEB knows rewards as soon as transitions": (
        "size * belief.inverse_reward_counts()",
        "0.0",
        ["tests/bamdp/optimism/test_optimism.py::test_beb_explores_rewards_where_transitions_are_known"],
    ),
}
