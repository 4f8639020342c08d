"""Planted bugs of bayesrl.beliefs.dynamics.linear_gaussian_dynamics."""

MODULE = "bayesrl.beliefs.dynamics.linear_gaussian_dynamics"
PLANTED = {
    "V with the noise in it": (
        "precision=frozen(self.precision + z[..., :, None] * z[..., None, :]),",
        "precision=frozen(self.precision + z[..., :, None] * z[..., None, :] / self.noise[0, 0]),",
        [
            "tests/beliefs/dynamics/test_linear.py::test_posterior_equals_conditioning",
            "tests/beliefs/dynamics/test_linear.py::test_facts",
        ],
    ),
    "the factor with the noise in it": (
        "v = z.copy()",
        "v = z / 0.2",
        ["tests/beliefs/dynamics/test_linear.py::test_posterior_equals_conditioning"],
    ),
    "W itself in the draw, not its root": (
        "E @ self.spread.T)",
        "E @ self.noise)",
        ["tests/beliefs/dynamics/test_linear.py::test_draws_have_the_posterior_covariance"],
    ),
    "draws by L in place of L'": (
        "np.linalg.solve(np.swapaxes(L, -1, -2), E",
        "np.linalg.solve(L, E",
        ["tests/beliefs/dynamics/test_linear.py::test_draws_have_the_posterior_covariance"],
    ),
    "covariance in the other order": (
        "np.kron(self.noise, np.linalg.inv(self.precision))",
        "np.kron(np.linalg.inv(self.precision), self.noise)",
        ["tests/beliefs/dynamics/test_linear.py::test_posterior_equals_conditioning"],
    ),
    "the gain of the mean without its denominator": (
        "k[r] / (1.0 + s[i]) * errors",
        "k[r] * errors",
        ["tests/beliefs/dynamics/test_linear.py::test_posterior_equals_conditioning"],
    ),
    "evidence of a known system": (
        "fit = log_density(self.spread, error, s)",
        "fit = log_density(self.spread, error, 0.0 * s)",
        ["tests/beliefs/dynamics/test_linear.py::test_posterior_equals_conditioning"],
    ),
    "evidence without the size of the noise": (
        " - np.log(np.diagonal(C)).sum())",
        ")",
        ["tests/beliefs/dynamics/test_linear.py::test_posterior_equals_conditioning"],
    ),
    "the predictive of a known system": (
        "(1.0 + z @ np.linalg.solve(self.precision, z)) * self.noise",
        "self.noise",
        ["tests/beliefs/dynamics/test_linear.py::test_predictive_equals_conditioning"],
    ),
    "update changes its belief": (
        "theta, L = self.mean.copy(), self.root.copy()",
        ("theta, L = self.mean, self.root\n        theta.setflags(write=True)\n        L.setflags(write=True)"),
        [
            "tests/beliefs/test_laws.py::test_belief_laws[linear-gaussian-dynamics]",
            "tests/beliefs/dynamics/test_linear.py::test_facts",
        ],
    ),
    "a reward without the action's cost": (
        "x, self.Q, x) + u @ self.R @ u",
        "x, self.Q, x)",
        ["tests/beliefs/dynamics/test_linear.py::test_searches_can_ask"],
    ),
}
