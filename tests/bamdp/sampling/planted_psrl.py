"""Planted bugs of bayesrl.bamdp.sampling.psrl."""

MODULE = "bayesrl.bamdp.sampling.psrl"
PLANTED = {
    "discount forgotten in psrl": (
        "model.mean_reward + model.gamma * later",
        "model.mean_reward + later",
        ["tests/bamdp/test_planners.py::test_psrl_over_a_horizon_gives_finite_horizon_values"],
    ),
    "the end of an episode goes unnoticed": (
        "over = last is not None and last.ends_episode",
        "over = False",
        ["tests/bamdp/test_planners.py::test_psrl_draws_one_model_per_episode"],
    ),
}
