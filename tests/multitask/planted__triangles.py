"""Planted bugs of bayesrl.multitask._triangles."""

MODULE = "bayesrl.multitask._triangles"
PLANTED = {
    "Bartlett's degrees do not fall": (
        "0.5 * (nu - i)",
        "0.5 * nu",
        ["tests/multitask/test_multitask_gptd_dp.py::test_draws_of_the_base"],
    ),
    "the mean is drawn with the covariance of a task": (
        "rng.standard_normal() / sqrt(kappa)",
        "rng.standard_normal()",
        ["tests/multitask/test_multitask_gptd_dp.py::test_equal_to_enumerated_partitions[15 partitions]"],
    ),
}
