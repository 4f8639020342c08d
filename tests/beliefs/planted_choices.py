"""Planted bugs of bayesrl.beliefs.choices."""

MODULE = "bayesrl.beliefs.choices"
PLANTED = {
    "ties never random": (
        'if ties == "first"',
        "if True",
        ["tests/bamdp/test_planners.py::test_ties"],
    ),
    "the survey's misprinted VPI": (
        "gain = np.maximum(q - mean[first], 0.0)",
        "gain = np.where(q > mean[second], q - mean[first], 0.0)",
        ["tests/bamdp/sampling/test_voi.py::test_value_of_perfect_information_by_hand"],
    ),
    "the best action gains by rising": (
        "gain[:, first] = np.maximum(mean[second] - q[:, first], 0.0)",
        "pass",
        ["tests/bamdp/sampling/test_voi.py::test_value_of_perfect_information_by_hand"],
    ),
}
