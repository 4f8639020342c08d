"""Planted bugs of bayesrl.risk.percentile_measure."""

MODULE = "bayesrl.risk.percentile_measure"
PLANTED = {
    "histories are merged to pairs of step and state": (
        "models, shared = drawn.models, share_transitions(drawn.models)",
        "models, shared = drawn.models, True",
        ["tests/risk/test_percentile_measure.py::test_the_mean_is_the_bayes_adaptive_optimum"],
    ),
}
