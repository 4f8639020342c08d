"""Planted bugs in beliefs about unknown noise; see test_mutants.py."""

import pytest

NW, DYNAMICS = (f"tests/continuous/test_normal_wishart{name}.py::" for name in ("", "_dynamics"))
WISHART, PARTICLES = "bayesrl.beliefs.continuous._normal_wishart", "bayesrl.continuous._particles"
FILTER, WORLD = "bayesrl.continuous.normal_wishart_dynamics", "bayesrl.worlds.continuous.robot_navigation"
CONSTANTS = NW + "test_ratios_of_normalising_constants_in_any_order"
SAME = DYNAMICS + "test_transcription"
GRID = DYNAMICS + "test_hidden_system_equals_a_kalman_filter_on_a_grid"

MUTANTS = {
    # name: (module, old, new, tests)
    "the predictive density without (kappa + 1) / kappa": (
        WISHART, "0.5 * d * np.log(np.pi * (kappa + 1.0) / kappa)", "0.5 * d * np.log(np.pi)", [CONSTANTS]),
    "the square in the predictive density without kappa / (kappa + 1)": (
        WISHART, "np.log1p(kappa / (kappa + 1.0) * square)", "np.log1p(square)", [CONSTANTS]),
    "draws without (kappa + 1) / kappa": (
        WISHART, "np.sqrt((kappa + 1.0) / (kappa * chi[i]))", "np.sqrt(1.0 / chi[i])", [SAME, GRID]),
    "degrees off by one in the density": (
        WISHART, "    f = nu - d + 1.0\n", "    f = nu - d + 2.0\n", [CONSTANTS]),
    "degrees off by one in draws": (
        WISHART, "rng.chisquare(of.degrees - d + 1.0, n)", "rng.chisquare(of.degrees - d + 2.0, n)",
        [NW + "test_draws_have_the_moments_and_quantiles_of_the_predictive", SAME]),
    "degrees off by one in the expected covariance": (
        WISHART, "return degrees - d - 1.0", "return degrees - d", [NW + "test_values_of_the_reference"]),
    "the scatter about the mean after the datum": (
        WISHART, "scatter[i, j, k] = Psi[i, j, k] + kappa * share * off", "scatter[i, j, k] = Psi[i, j, k] + share * off",
        [SAME]),
    "the scatter of several data about their own mean": (
        WISHART, "+ kappa * n / (kappa + n) * np.outer(apart, apart)", "", [CONSTANTS]),
    "degrees of freedom do not grow": (
        WISHART, "self.strength + 1.0, self.degrees + 1.0, frozen(scatter)", "self.strength + 1.0, self.degrees, frozen(scatter)",
        [SAME]),
    "a drawn precision of the scatter's inverse transposed": (
        WISHART, "T = np.linalg.solve(np.linalg.cholesky(Psi).T, A)", "T = np.linalg.solve(np.linalg.cholesky(Psi), A)",
        ["tests/beliefs/test_laws.py::test_belief_laws[normal-wishart-dynamics]"]),
    "a drawn mean without the strength": (
        WISHART, "rng.standard_normal(d)) / math.sqrt(kappa), T @ T.T", "rng.standard_normal(d)), T @ T.T",
        ["tests/beliefs/test_laws.py::test_belief_laws[normal-wishart-dynamics]"]),
    "statistics are not copied on resampling": (
        PARTICLES, "noise, sensor = (x.some(rows) if isinstance(x, Statistics) else x for x in (self.noise, self.sensor))",
        "noise, sensor = self.noise, self.sensor", [SAME]),
    "statistics of the sensor are not copied on resampling": (
        PARTICLES, "noise, sensor = (x.some(rows) if isinstance(x, Statistics) else x for x in (self.noise, self.sensor))",
        "noise, sensor = self.noise.some(rows), self.sensor", [SAME]),
    "ancestors are not followed": (
        PARTICLES, "noise, sensor, frozen(self.origin[rows]))", "noise, sensor, self.origin)", [SAME]),
    "the Jacobian is forgotten": (
        FILTER, "log_w = np.log(old.weights) + log_density + log_jacobian", "log_w = np.log(old.weights) + log_density",
        [DYNAMICS + "test_the_evidence_is_a_density_of_observations",
         DYNAMICS + "test_the_derivative_weighs_particles"]),
    "the weights before are forgotten": (
        FILTER, "log_w = np.log(old.weights) + log_density", "log_w = -np.log(n) + log_density", [GRID]),
    "the weight is the density after the update": (
        FILTER, "            log_density, sensor = density(old.sensor, w)\n",
        "            _, sensor = density(old.sensor, w)\n            log_density, _ = density(sensor, w)\n",
        [DYNAMICS + "test_hidden_system_equals_a_kalman_filter_on_a_grid", SAME]),
    "the drawn noise is not learned": (
        FILTER, "new = Sample(frozen(s), old.weights, noise, old.sensor", "new = Sample(frozen(s), old.weights, old.noise, old.sensor",
        [GRID]),
    "the sensor is not learned": (
        FILTER, "weights=frozen(weights / total), sensor=sensor)", "weights=frozen(weights / total))", [GRID]),
    "the evidence sums weights after normalising": (
        FILTER, "sizes, log_p = (len(a), len(z)), top + math.log(total)", "sizes, log_p = (len(a), len(z)), top", [GRID]),
    "resampling above the effective number": (
        FILTER, "new.weights * n * self.resample > 1.0", "new.weights * n * self.resample < 1.0",
        [DYNAMICS + "test_numbers_of_particles"]),
    "systematic resampling shifts by one": (
        PARTICLES, "ends = np.ceil(n * (below / below[-1]) - rng.random())", "ends = np.floor(n * (below / below[-1]) - rng.random())",
        [SAME]),
    "a restart forgets the statistics": (
        FILTER, "unchecked(self, sample=self.sample._replace(states=None))", "unchecked(self, sample=None)",
        [DYNAMICS + "test_restart_keeps_the_statistics"]),
    "a restart keeps the state": (
        FILTER, "unchecked(self, sample=self.sample._replace(states=None))", "self",
        [DYNAMICS + "test_restart_keeps_the_statistics"]),
    "a draw takes particles without their weights": (
        FILTER, "sample.chosen(pick(sample.weights, n, rng))", "sample.chosen(rng.integers(len(sample.weights), size=n))",
        [DYNAMICS + "test_draws_of_hidden_states"]),
    "a draw forgets the sensor's noise": (
        FILTER, 's, a, drawn(some.sensor, n, rng)[0])', 's, a, 0.0 * drawn(some.sensor, n, rng)[0])',
        [DYNAMICS + "test_draws_of_hidden_states"]),
    "the expected reward is that of the expected state": (
        FILTER, "        return float(p @ self._rows(\"reward\", (len(s),), s, a))",
        "        return float(self._rows(\"reward\", (1,), (p @ s)[None], a)[0])",
        [DYNAMICS + "test_expected_rewards_of_hidden_states"]),
    "the evidence of seen states without the derivative": (
        FILTER, "self.log_probability + float(log_jacobian[0]), (len(a), len(z))", "self.log_probability, (len(a), len(z))",
        [DYNAMICS + "test_the_evidence_of_seen_states_may_be_a_density_of_states"]),
    "a known noise has its variance for its deviation": (
        PARTICLES, "above=True, moderate=True) ** 2 * np.eye(d)", "above=True, moderate=True) * np.eye(d)",
        [DYNAMICS + "test_a_noise_may_be_known"]),
    "the robot does not drift": (
        WORLD, "s + a + np.array(self.drift) + self.noise * v", "s + a + self.noise * v",
        ["tests/worlds/test_robot_navigation.py::test_steps_by_hand"]),
    "the robot sees where it was": (
        WORLD, "frozen(new + self.sensor * w)", "frozen(s + self.sensor * w)",
        ["tests/worlds/test_robot_navigation.py::test_steps_by_hand"]),
}  # fmt: skip


@pytest.mark.parametrize("name", MUTANTS)
def test_mutant_is_caught(name, assert_caught):
    assert_caught(name, *MUTANTS[name])
