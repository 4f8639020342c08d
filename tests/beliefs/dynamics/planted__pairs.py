"""Planted bugs of bayesrl.beliefs.dynamics._pairs."""

MODULE = "bayesrl.beliefs.dynamics._pairs"
PLANTED = {
    "slope without the scale": (
        "(X[:, None] - Y) / np.square(k.scale)",
        "(X[:, None] - Y)",
        ["tests/beliefs/dynamics/test_gp_pomdp.py::test_pairs"],
    ),
}
