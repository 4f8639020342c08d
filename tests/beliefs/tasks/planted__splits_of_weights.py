"""Planted bugs of bayesrl.beliefs.tasks._splits_of_weights."""

MODULE = "bayesrl.beliefs.tasks._splits_of_weights"
PLANTED = {
    "a split of weights is accepted without the probability of its proposal": (
        "log_ratio - log_q if a == b",
        "log_ratio if a == b",
        [
            "tests/beliefs/tasks/test_linear_reward_classes.py::test_splits_and_merges_alone_follow_the_enumerated_clusterings"
        ],
    ),
    "a split of weights forgets the sizes of its classes": (
        "gammaln(size).sum() - gammaln(size.sum()) + old.sum()",
        "old.sum()",
        [
            "tests/beliefs/tasks/test_linear_reward_classes.py::test_splits_and_merges_alone_follow_the_enumerated_clusterings"
        ],
    ),
    "a split of weights has the concentration of one class more": (
        "c[K if a == b else K - 1]",
        "c[K if a == b else K]",
        ["tests/beliefs/tasks/test_linear_reward_classes.py::test_a_learnt_concentration"],
    ),
}
