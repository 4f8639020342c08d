"""Planted bugs of bayesrl.beliefs.dynamics.normal_wishart_dynamics."""

MODULE = "bayesrl.beliefs.dynamics.normal_wishart_dynamics"
PLANTED = {
    "the Jacobian is forgotten": (
        "log_w = np.log(old.weights) + log_density + log_jacobian",
        "log_w = np.log(old.weights) + log_density",
        [
            "tests/beliefs/dynamics/test_normal_wishart_dynamics.py::test_the_evidence_is_a_density_of_observations",
            "tests/beliefs/dynamics/test_normal_wishart_dynamics.py::test_the_derivative_weighs_particles",
        ],
    ),
    "the weights before are forgotten": (
        "log_w = np.log(old.weights) + log_density",
        "log_w = -np.log(n) + log_density",
        ["tests/beliefs/dynamics/test_normal_wishart_dynamics.py::test_hidden_system_equals_a_kalman_filter_on_a_grid"],
    ),
    "the weight is the density after the update": (
        "            log_density, sensor = density(old.sensor, w)\n",
        ("            _, sensor = density(old.sensor, w)\n            log_density, _ = density(sensor, w)\n"),
        [
            "tests/beliefs/dynamics/test_normal_wishart_dynamics.py::test_hidden_system_equals_a_kalman_filter_on_a_grid",
            "tests/beliefs/dynamics/test_normal_wishart_dynamics.py::test_transcription",
        ],
    ),
    "the drawn noise is not learned": (
        "new = Sample(frozen(s), old.weights, noise, old.sensor",
        "new = Sample(frozen(s), old.weights, old.noise, old.sensor",
        ["tests/beliefs/dynamics/test_normal_wishart_dynamics.py::test_hidden_system_equals_a_kalman_filter_on_a_grid"],
    ),
    "the sensor is not learned": (
        "weights=frozen(weights / total), sensor=sensor)",
        "weights=frozen(weights / total))",
        ["tests/beliefs/dynamics/test_normal_wishart_dynamics.py::test_hidden_system_equals_a_kalman_filter_on_a_grid"],
    ),
    "the evidence sums weights after normalising": (
        "sizes, log_p = (len(a), len(z)), top + math.log(total)",
        "sizes, log_p = (len(a), len(z)), top",
        ["tests/beliefs/dynamics/test_normal_wishart_dynamics.py::test_hidden_system_equals_a_kalman_filter_on_a_grid"],
    ),
    "resampling above the effective number": (
        "new.weights * n * self.resample > 1.0",
        "new.weights * n * self.resample < 1.0",
        ["tests/beliefs/dynamics/test_normal_wishart_dynamics.py::test_numbers_of_particles"],
    ),
    "a restart forgets the statistics": (
        "unchecked(self, sample=self.sample._replace(states=None))",
        "unchecked(self, sample=None)",
        ["tests/beliefs/dynamics/test_normal_wishart_dynamics.py::test_restart_keeps_the_statistics"],
    ),
    "a restart keeps the state": (
        "unchecked(self, sample=self.sample._replace(states=None))",
        "self",
        ["tests/beliefs/dynamics/test_normal_wishart_dynamics.py::test_restart_keeps_the_statistics"],
    ),
    "a draw takes particles without their weights": (
        "sample.chosen(pick(sample.weights, n, rng))",
        "sample.chosen(rng.integers(len(sample.weights), size=n))",
        ["tests/beliefs/dynamics/test_normal_wishart_dynamics.py::test_draws_of_hidden_states"],
    ),
    "a draw forgets the sensor's noise": (
        "s, a, drawn(some.sensor, n, rng)[0])",
        "s, a, 0.0 * drawn(some.sensor, n, rng)[0])",
        ["tests/beliefs/dynamics/test_normal_wishart_dynamics.py::test_draws_of_hidden_states"],
    ),
    "the expected reward is that of the expected state": (
        '        return float(p @ self._rows("reward", (len(s),), s, a))',
        '        return float(self._rows("reward", (1,), (p @ s)[None], a)[0])',
        ["tests/beliefs/dynamics/test_normal_wishart_dynamics.py::test_expected_rewards_of_hidden_states"],
    ),
    "the evidence of seen states without the derivative": (
        "self.log_probability + float(log_jacobian[0]), (len(a), len(z))",
        "self.log_probability, (len(a), len(z))",
        [
            "tests/beliefs/dynamics/test_normal_wishart_dynamics.py::test_the_evidence_of_seen_states_may_be_a_density_of_states"
        ],
    ),
}
