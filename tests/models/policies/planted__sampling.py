"""Planted bugs of bayesrl.models.policies._sampling."""

MODULE = "bayesrl.models.policies._sampling"
PLANTED = {
    "actions of probability zero are drawn": (
        "total = np.cumsum(p)",
        "total = np.cumsum(p + 0.05)",
        ["tests/models/test_policy.py::test_samples_have_the_frequencies_that_log_prob_says[stochastic]"],
    ),
    "soft-max that never normalises": (
        ".random() * total[-1]",
        ".random() * total[-1] * 0.1",
        ["tests/bamdp/test_planners.py::test_softmax_frequencies"],
    ),
}
