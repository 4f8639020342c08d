"""Planted bugs of bayesrl.gradient.bpg_hessian."""

MODULE = "bayesrl.gradient.bpg_hessian"
PLANTED = {
    "the Hessian forgets the curvature of the policy": (
        " + np.tensordot(weights * y, second, 1)",
        "",
        ["tests/gradient/test_bpg.py::test_the_exact_hessian_is_reached"],
    ),
    "Newton steps go downhill where the Hessian is positive": (
        "np.maximum(np.abs(values), damping)",
        "np.maximum(-values, damping)",
        ["tests/gradient/test_agents.py::test_a_newton_step_by_hand"],
    ),
}
