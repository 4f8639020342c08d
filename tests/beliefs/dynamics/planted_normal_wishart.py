"""Planted bugs of bayesrl.beliefs.dynamics.normal_wishart."""

MODULE = "bayesrl.beliefs.dynamics.normal_wishart"
PLANTED = {
    "the predictive density without (kappa + 1) / kappa": (
        "0.5 * d * np.log(np.pi * (kappa + 1.0) / kappa)",
        "0.5 * d * np.log(np.pi)",
        ["tests/beliefs/dynamics/test_normal_wishart.py::test_ratios_of_normalising_constants_in_any_order"],
    ),
    "the square in the predictive density without kappa / (kappa + 1)": (
        "np.log1p(kappa / (kappa + 1.0) * square)",
        "np.log1p(square)",
        ["tests/beliefs/dynamics/test_normal_wishart.py::test_ratios_of_normalising_constants_in_any_order"],
    ),
    "draws without (kappa + 1) / kappa": (
        "np.sqrt((kappa + 1.0) / (kappa * chi[i]))",
        "np.sqrt(1.0 / chi[i])",
        [
            "tests/beliefs/dynamics/test_normal_wishart_dynamics.py::test_transcription",
            "tests/beliefs/dynamics/test_normal_wishart_dynamics.py::test_hidden_system_equals_a_kalman_filter_on_a_grid",
        ],
    ),
    "degrees off by one in the density": (
        "    f = nu - d + 1.0\n",
        "    f = nu - d + 2.0\n",
        ["tests/beliefs/dynamics/test_normal_wishart.py::test_ratios_of_normalising_constants_in_any_order"],
    ),
    "degrees off by one in draws": (
        "rng.chisquare(of.degrees - d + 1.0, n)",
        "rng.chisquare(of.degrees - d + 2.0, n)",
        [
            "tests/beliefs/dynamics/test_normal_wishart.py::test_draws_have_the_moments_and_quantiles_of_the_predictive",
            "tests/beliefs/dynamics/test_normal_wishart_dynamics.py::test_transcription",
        ],
    ),
    "degrees off by one in the expected covariance": (
        "return degrees - d - 1.0",
        "return degrees - d",
        ["tests/beliefs/dynamics/test_normal_wishart.py::test_values_of_the_reference"],
    ),
    "the scatter about the mean after the datum": (
        "scatter[i, j, k] = Psi[i, j, k] + kappa * share * off",
        "scatter[i, j, k] = Psi[i, j, k] + share * off",
        ["tests/beliefs/dynamics/test_normal_wishart_dynamics.py::test_transcription"],
    ),
    "the scatter of several data about their own mean": (
        "+ kappa * n / (kappa + n) * np.outer(apart, apart)",
        "",
        ["tests/beliefs/dynamics/test_normal_wishart.py::test_ratios_of_normalising_constants_in_any_order"],
    ),
    "degrees of freedom do not grow": (
        "self.strength + 1.0, self.degrees + 1.0, frozen(scatter)",
        "self.strength + 1.0, self.degrees, frozen(scatter)",
        ["tests/beliefs/dynamics/test_normal_wishart_dynamics.py::test_transcription"],
    ),
    "a drawn precision of the scatter's inverse transposed": (
        "T = np.linalg.solve(np.linalg.cholesky(Psi).T, A)",
        "T = np.linalg.solve(np.linalg.cholesky(Psi), A)",
        ["tests/beliefs/test_laws.py::test_belief_laws[normal-wishart-dynamics]"],
    ),
    "a drawn mean without the strength": (
        "rng.standard_normal(d)) / math.sqrt(kappa), T @ T.T",
        "rng.standard_normal(d)), T @ T.T",
        ["tests/beliefs/test_laws.py::test_belief_laws[normal-wishart-dynamics]"],
    ),
}
