"""Planted bugs of bayesrl.bamdp.baselines.random."""

MODULE = "bayesrl.bamdp.baselines.random"
PLANTED = {
    "a planner draws from numpy's own generator": (
        "rng.random() * A",
        "np.random.random() * A",
        ["tests/test_randomness.py::test_methods_use_their_streams_alone[random]"],
    ),
}
