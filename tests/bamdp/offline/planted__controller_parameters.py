"""Planted bugs of bayesrl.bamdp.offline._controller_parameters."""

MODULE = "bayesrl.bamdp.offline._controller_parameters"
PLANTED = {
    "the planner's edges have their axes exchanged": (
        "np.ascontiguousarray(eta.swapaxes(-1, -2))",
        "eta.reshape(eta.swapaxes(-1, -2).shape)",
        [
            "tests/bamdp/offline/test_finite_state_controller.py::test_value_equals_dynamic_programming_over_hyper_states"
        ],
    ),
    "a node is credited with the reward before it": (
        "(q, s, a, then, y), after / n",
        "(q, s, a, q, y), after / n",
        ["tests/bamdp/offline/test_finite_state_controller.py::test_monte_carlo_gradient_is_unbiased"],
    ),
    "the mean includes one's own life": (
        "(returns - returns.mean(axis=0)) * n / (n - 1)",
        "returns - returns.mean(axis=0)",
        ["tests/bamdp/offline/test_finite_state_controller.py::test_monte_carlo_gradient_is_unbiased"],
    ),
}
