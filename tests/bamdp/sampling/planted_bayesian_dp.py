"""Planted bugs of bayesrl.bamdp.sampling.bayesian_dp."""

MODULE = "bayesrl.bamdp.sampling.bayesian_dp"
PLANTED = {
    "a model is kept one step too long": (
        "memory.left == 0",
        "memory.left < 0",
        ["tests/bamdp/test_planners.py::test_bayesian_dp_resamples_every_n_steps"],
    ),
}
