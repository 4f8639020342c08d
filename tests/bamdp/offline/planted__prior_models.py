"""Planted bugs of bayesrl.bamdp.offline._prior_models."""

MODULE = "bayesrl.bamdp.offline._prior_models"
PLANTED = {
    "a controller is valued in the mean model": (
        "stack(prior, *gauss_rule(prior, free, int(n ** (1.0 / max(len(free), 1)) + 1e-9)))",
        "stack(prior, [prior.mean_mdp()], np.ones(1))",
        ["tests/bamdp/offline/test_finite_state_controller.py::test_value_is_not_that_of_the_mean_model"],
    ),
    "terminal states go on with discount 1": (
        "        P[:, prior.outcomes.terminal] = 0.0\n",
        "",
        ["tests/bamdp/test_undiscounted.py::test_controllers_have_the_values_of_linear_systems_and_their_gradients"],
    ),
    "a simulated episode begins anew after its end": (
        "        P[:, s, :, s] = 1.0\n",
        "        pass\n",
        ["tests/bamdp/test_undiscounted.py::test_simulated_gradients_stop_at_the_end"],
    ),
    "models that need not end are evaluated": (
        '            must_be_proper("FiniteStateController", "problem", m)\n',
        "            pass\n",
        ["tests/bamdp/test_undiscounted.py::test_solvers_refuse_what_need_not_end"],
    ),
    "the last model's episodes count as the longest": (
        "max(map(longest_episode, models))",
        "longest_episode(models[-1])",
        ["tests/bamdp/test_undiscounted.py::test_controllers_have_the_values_of_linear_systems_and_their_gradients"],
    ),
}
