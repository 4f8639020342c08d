"""Planted bugs of bayesrl.bamdp.offline.finite_state_controller."""

MODULE = "bayesrl.bamdp.offline.finite_state_controller"
PLANTED = {
    "the gradient forgets what later nodes are worth": (
        ' + np.einsum("qsary,qsary->qsa", later, eta)',
        "",
        ["tests/bamdp/offline/test_finite_state_controller.py::test_gradient_equals_finite_differences"],
    ),
    "the adjoint system is not transposed": (
        "first.ravel(), trans=0",
        "first.ravel(), trans=1",
        ["tests/bamdp/offline/test_finite_state_controller.py::test_gradient_equals_finite_differences"],
    ),
    "a model's edges are those of the wrong next state": (
        "P[i, s, a, y] * edge[q, s, a, r, y]",
        "P[i, s, a, y] * edge[q, s, a, r, s]",
        [
            "tests/bamdp/offline/test_finite_state_controller.py::test_value_equals_dynamic_programming_over_hyper_states"
        ],
    ),
    "an edge is worth what the node it leaves is": (
        "P[i, s, a, y] * V[i, r, y]",
        "P[i, s, a, y] * V[i, q, y]",
        ["tests/bamdp/offline/test_finite_state_controller.py::test_gradient_equals_finite_differences"],
    ),
    "steps are taken that do not gain": (
        ".J < here.J + SUFFICIENT * step * promise",
        ".J < here.J - 1.0",
        ["tests/bamdp/offline/test_finite_state_controller.py::test_ascent_never_falls"],
    ),
    "the planner follows the edge into the wrong state": (
        "pick(self.eta[mind, s, a, y]",
        "pick(self.eta[mind, y, a, s]",
        ["tests/bamdp/offline/test_finite_state_controller.py::test_edges_are_followed"],
    ),
    "the node survives its episode": (
        ("        if transition.ends_episode:\n            return 0\n"),
        "",
        ["tests/bamdp/offline/test_finite_state_controller.py::test_edges_are_followed"],
    ),
}
