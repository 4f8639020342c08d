"""Planted bugs of bayesrl.beliefs.dynamics._gp_moments."""

MODULE = "bayesrl.beliefs.dynamics._gp_moments"
PLANTED = {
    "moments without the trace": (
        "prior.variance - np.sum(U * U)]",
        "prior.variance]",
        ["tests/beliefs/dynamics/test_gp_dynamics.py::test_moments_equal_quadrature"],
    ),
    "moments by matrices without the trace": (
        "float(prior.variance - np.trace(Q))",
        "float(prior.variance)",
        ["tests/beliefs/dynamics/test_gp_dynamics.py::test_moments_equal_quadrature"],
    ),
    "moments without the noise": (
        "- np.sum(U * U)]), prior.variance) + noise**2",
        "- np.sum(U * U)]), prior.variance)",
        ["tests/beliefs/dynamics/test_gp_dynamics.py::test_moments_equal_quadrature"],
    ),
    "moments by matrices without the noise": (
        "(max(rest, 0.0) + noise**2) * np.eye",
        "max(rest, 0.0) * np.eye",
        ["tests/beliefs/dynamics/test_gp_dynamics.py::test_moments_equal_quadrature"],
    ),
    "moments with the square of the mean": (
        "Z[1:].T @ Z[1:]",
        "Z.T @ Z",
        ["tests/beliefs/dynamics/test_gp_dynamics.py::test_moments_equal_quadrature"],
    ),
    "moments by matrices with the square of the mean": (
        " - np.outer(mean, mean), cross",
        ", cross",
        ["tests/beliefs/dynamics/test_gp_dynamics.py::test_moments_equal_quadrature"],
    ),
    "an expansion without its second term": (
        "total - G[j, k] * np.sqrt(b[k])",
        "total - 0.0 * G[j, k] * np.sqrt(b[k])",
        ["tests/beliefs/dynamics/test_gp_dynamics.py::test_moments_equal_quadrature"],
    ),
    "an expansion that stops at the first degree": (
        "while small < 2 and r > 0:",
        "while len(made) <= r and r > 0:",
        ["tests/beliefs/dynamics/test_gp_dynamics.py::test_moments_equal_quadrature"],
    ),
    "outputs of different covariances are uncorrelated": (
        "groups[: i + 1]",
        "groups[: i + 1][-1:]",
        ["tests/beliefs/dynamics/test_gp_dynamics.py::test_moments_equal_quadrature[different-state-dense]"],
    ),
    "the other output's scales are forgotten": (
        "squared_scales(other, len(S))",
        "squared_scales(prior, len(S))",
        ["tests/beliefs/dynamics/test_gp_dynamics.py::test_moments_equal_quadrature[different-state-dense]"],
    ),
    "factors shared by different noises": (
        "one[1] == sd and (one[0]",
        "(one[0]",
        ["tests/beliefs/dynamics/test_gp_dynamics.py::test_equal_to_dense_conditioning[noises-state]"],
    ),
}
