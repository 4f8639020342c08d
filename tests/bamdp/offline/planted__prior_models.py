"""Planted bugs of bayesrl.bamdp.offline._prior_models."""

MODULE = "bayesrl.bamdp.offline._prior_models"
PLANTED = {
    "a controller is valued in the mean model": (
        "stack(prior, *gauss_rule(prior, free, int(n ** (1.0 / max(len(free), 1)) + 1e-9)))",
        "stack(prior, [prior.mean_mdp()], np.ones(1))",
        ["tests/bamdp/offline/test_finite_state_controller.py::test_value_is_not_that_of_the_mean_model"],
    ),
}
