"""Planted bugs of bayesrl.kernels.best_arm."""

MODULE = "bayesrl.kernels.best_arm"
PLANTED = {
    "a replicate begins with the range of the one before": (
        "    for i in range(R):\n        least, most, wide = 0.0, 0.0, math.pi / 8.0\n",
        "    least, most, wide = 0.0, 0.0, math.pi / 8.0\n    for i in range(R):\n",
        ["tests/kernels/test_plain_numbers.py::test_ranges_of_beta_arms"],
    ),
}
