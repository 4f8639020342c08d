"""Planted bugs of bayesrl.bamdp.baselines.q_learning."""

MODULE = "bayesrl.bamdp.baselines.q_learning"
PLANTED = {
    "terminal ignored in q-learning": (
        "r if y is None else ",
        "",
        ["tests/bamdp/baselines/test_q_learning.py"],
    ),
}
