"""Planted bugs of bayesrl.models.policies.sampling."""

MODULE = "bayesrl.models.policies.sampling"
PLANTED = {
    "actions of probability zero are drawn": (
        "total = np.cumsum(p)",
        "total = np.cumsum(p + 0.05)",
        ["tests/models/policies/test_policy.py::test_samples_have_the_frequencies_that_log_prob_says[stochastic]"],
    ),
    "soft-max that never normalises": (
        ".random() * total[-1]",
        ".random() * total[-1] * 0.1",
        ["tests/bamdp/test_planners.py::test_softmax_frequencies"],
    ),
}
