"""Planted bugs of bayesrl.beliefs.dynamics.gp_dynamics."""

MODULE = "bayesrl.beliefs.dynamics.gp_dynamics"
PLANTED = {
    "the input's covariance forgotten for mean=state": (
        "V + S + C + C.T, C + S",
        "V + C + C.T, C + S",
        ["tests/beliefs/dynamics/test_gp_dynamics.py::test_moments_equal_quadrature"],
    ),
    "the covariance with the input counted once": (
        "V + S + C + C.T, C + S",
        "V + S + C, C + S",
        ["tests/beliefs/dynamics/test_gp_dynamics.py::test_moments_equal_quadrature"],
    ),
    "the covariance with the input without the input's": (
        "V + S + C + C.T, C + S",
        "V + S + C + C.T, C",
        ["tests/beliefs/dynamics/test_gp_dynamics.py::test_moments_equal_quadrature"],
    ),
    "noise added to the latent function": (
        "left if latent else left + noise**2",
        "left + noise**2",
        ["tests/beliefs/dynamics/test_gp_dynamics.py::test_equal_to_dense_conditioning"],
    ),
    "noise missing from the predictive": (
        "left if latent else left + noise**2",
        "left",
        ["tests/beliefs/dynamics/test_gp_dynamics.py::test_equal_to_dense_conditioning"],
    ),
    "the standard deviation for the variance of the noise": (
        "noise**2 * np.eye(m)",
        "noise * np.eye(m)",
        ["tests/beliefs/dynamics/test_gp_dynamics.py::test_equal_to_dense_conditioning"],
    ),
    "the state is not added to its change": (
        'mean[:, :d] + S * (self.mean == "state")',
        "mean[:, :d]",
        ["tests/beliefs/dynamics/test_gp_dynamics.py::test_equal_to_dense_conditioning"],
    ),
    "the reward learned as a coordinate": (
        "self._predicted(owner, S, a)[0][:, -1]",
        "self._predicted(owner, S, a)[0][:, 0]",
        ["tests/beliefs/dynamics/test_gp_dynamics.py::test_equal_to_dense_conditioning"],
    ),
    "draws with the variance for the deviation": (
        "mean + np.sqrt(variance) * z)",
        "mean + variance * z)",
        ["tests/beliefs/dynamics/test_gp_dynamics.py::test_draws_and_rewards"],
    ),
}
