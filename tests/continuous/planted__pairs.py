"""Planted bugs of bayesrl.continuous._pairs."""

MODULE = "bayesrl.continuous._pairs"
PLANTED = {
    "slope without the scale": (
        "(X[:, None] - Y) / np.square(k.scale)",
        "(X[:, None] - Y)",
        ["tests/continuous/test_gp_pomdp.py::test_pairs"],
    ),
}
