"""Planted bugs of bayesrl.beliefs.values.observations."""

MODULE = "bayesrl.beliefs.values.observations"
PLANTED = {
    "a version writes into another": (
        "newest = buffer.points == p and buffer.data == n",
        "newest = True",
        ["tests/beliefs/values/test_gptd.py::test_older_versions_stay_as_they_are"],
    ),
    "the evidence forgets the pivots": (
        "(squares + columns * n * LOG_2_PI) - columns * log_pivots",
        "(squares + columns * n * LOG_2_PI)",
        ["tests/beliefs/values/test_gptd.py::test_equal_to_dense_conditioning"],
    ),
    "terms of a row that cancel out count as its size": (
        "if not is_regular(factor, size, len(new)):",
        "if not is_regular(factor, np.diagonal(inner), len(new)):",
        ["tests/value/test_refusals.py::test_data_that_others_determine_are_refused_without_noise"],
    ),
}
