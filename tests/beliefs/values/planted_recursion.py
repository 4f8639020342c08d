"""Planted bugs of bayesrl.beliefs.values.recursion."""

MODULE = "bayesrl.beliefs.values.recursion"
PLANTED = {
    "a parametric tie is not used": (
        "new[i] = total + e * p[i]",
        "new[i] = total",
        ["tests/beliefs/values/test_gptd.py::test_parametric_is_gptd_with_the_covariance_of_its_features"],
    ),
    "the parametric residual forgets the one before": (
        "d = r[t] - expected + e * d",
        "d = r[t] - expected",
        ["tests/beliefs/values/test_gptd.py::test_parametric_is_gptd_with_the_covariance_of_its_features"],
    ),
    "a parametric tie crosses a reset": (
        ("    if fresh:\n        c[0] = 0.0\n"),
        "",
        ["tests/beliefs/values/test_gptd.py::test_parametric_is_gptd_with_the_covariance_of_its_features"],
    ),
    "rounding counts as a datum's variance": (
        "if not s > least[t]:",
        "if not s > 0.0:",
        ["tests/value/test_refusals.py::test_data_that_others_determine_are_refused_without_noise"],
    ),
}
