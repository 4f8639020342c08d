"""Planted bugs of bayesrl.risk.sigma_points."""

MODULE = "bayesrl.risk.sigma_points"
PLANTED = {
    "clipped sigma points": (
        "return np.concatenate([p[None], p + steps, p - steps])",
        "return np.maximum(np.concatenate([p[None], p + steps, p - steps]), 0.0)",
        ["tests/risk/test_sigma_point_robust.py::test_moments_of_sigma_points"],
    ),
    "alpha_0 for alpha_0 + 1": (
        "/ (total + 1.0))[None])[0]",
        "/ total)[None])[0]",
        ["tests/risk/test_sigma_point_robust.py::test_two_outcomes_in_closed_form"],
    ),
    "the covariance for its root": (
        "np.sqrt(np.maximum(values, 0.0))",
        "np.maximum(values, 0.0)",
        ["tests/risk/test_sigma_point_robust.py::test_moments_of_sigma_points"],
    ),
}
