"""Planted bugs in linear dynamics, the Riccati equation, lazy posterior sampling, linear worlds; see test_mutants.py."""

import pytest

LINEAR, RICCATI, LAZY = (f"tests/continuous/test_{name}.py::" for name in ("linear", "riccati", "lazy_psrl"))
WORLDS = "tests/worlds/test_linear_worlds.py::"
BELIEF, SOLVER = "bayesrl.beliefs.continuous.linear_gaussian_dynamics", "bayesrl.models._riccati"
PLANNER, CONTROL = "bayesrl.continuous.lazy_psrl", "bayesrl.continuous._linear_control"
PLACE = "bayesrl.worlds.continuous."
POSTERIOR, DRAWS = LINEAR + "test_posterior_equals_conditioning", LINEAR + "test_draws_have_the_posterior_covariance"
TRANSCRIPTION, LOCKSTEP = LAZY + "test_transcription", LAZY + "test_lockstep_equals_its_transcription"

MUTANTS = {
    # name: (module, old, new, tests)
    "V with the noise in it": (
        BELIEF, "precision=frozen(self.precision + z[..., :, None] * z[..., None, :]),",
        "precision=frozen(self.precision + z[..., :, None] * z[..., None, :] / self.noise[0, 0]),",
        [POSTERIOR, LINEAR + "test_facts"]),
    "the factor with the noise in it": (
        BELIEF, "v = z.copy()", "v = z / 0.2", [POSTERIOR]),
    "W forgotten in the draw": (BELIEF, "E @ self.spread.T)", "E)", [DRAWS]),
    "W itself in the draw, not its root": (BELIEF, "E @ self.spread.T)", "E @ self.noise)", [DRAWS]),
    "draws by L in place of L'": (
        BELIEF, "np.linalg.solve(np.swapaxes(L, -1, -2), E", "np.linalg.solve(L, E", [DRAWS]),
    "draws by the precision": (
        BELIEF, "np.linalg.solve(np.swapaxes(L, -1, -2), E", "np.linalg.solve(L @ np.swapaxes(L, -1, -2), E", [DRAWS]),
    "a transposed Theta": (
        SOLVER, "    both = np.swapaxes(theta, -1, -2)\n    return both[..., :n], both[..., n:]",
        "    return theta[..., :n, :], np.swapaxes(theta[..., n:, :], -1, -2)", [DRAWS, TRANSCRIPTION]),
    "covariance in the other order": (
        BELIEF, "np.kron(self.noise, np.linalg.inv(self.precision))", "np.kron(np.linalg.inv(self.precision), self.noise)",
        [POSTERIOR]),
    "the gain of the mean without its denominator": (
        BELIEF, "k[r] / (1.0 + s[i]) * errors", "k[r] * errors", [POSTERIOR]),
    "evidence of a known system": (
        BELIEF, "fit = log_density(self.spread, error, s)", "fit = log_density(self.spread, error, 0.0 * s)", [POSTERIOR]),
    "evidence without the size of the noise": (
        BELIEF, " - np.log(np.diagonal(C)).sum())", ")", [POSTERIOR]),
    "the predictive of a known system": (
        BELIEF, "(1.0 + z @ np.linalg.solve(self.precision, z)) * self.noise", "self.noise",
        [LINEAR + "test_predictive_equals_conditioning"]),
    "update changes its belief": (
        BELIEF, "theta, L = self.mean.copy(), self.root.copy()",
        "theta, L = self.mean, self.root\n        theta.setflags(write=True)\n        L.setflags(write=True)",
        ["tests/beliefs/test_laws.py::test_belief_laws[linear-gaussian-dynamics]", LINEAR + "test_facts"]),
    "a reward without the action's cost": (
        BELIEF, "x, self.Q, x) + u @ self.R @ u", "x, self.Q, x)", [LINEAR + "test_searches_can_ask"]),
    "the determinant is compared with the step before": (
        PLANNER, "return Decision(action_of(K, x), memory._replace(steps=memory.steps + 1), info)",
        "return Decision(action_of(K, x), memory._replace(steps=memory.steps + 1, log_det=now), info)",
        [TRANSCRIPTION, LAZY + "test_sampling_times_of_the_facts"]),
    "nothing to spare": (PLANNER, "SPARE = 1e-9", "SPARE = -1e-9", [LAZY + "test_sampling_times_of_the_facts"]),
    "the gain is that of the mean": (
        PLANNER, "        gain[left[inside]] = found.gain[found.stable]",
        "        gain[left[inside]] = gains_of_means(belief.theta.reshape(new.size, *belief.theta.shape[-2:]), belief)[left[inside]]",
        [TRANSCRIPTION]),
    "a discount on the average cost": (
        PLANNER, "found = gains(A[inside], B[inside], belief.Q, belief.R)",
        "found = gains(0.95**0.5 * A[inside], 0.95**0.5 * B[inside], belief.Q, belief.R)",
        [TRANSCRIPTION, LAZY + "test_at_a_certain_belief_the_gain_is_the_riccati_gain"]),
    "a discount on the average cost of the mean": (
        CONTROL, "found = gains(A, B, belief.Q, belief.R)", "found = gains(0.95**0.5 * A, 0.95**0.5 * B, belief.Q, belief.R)",
        [LAZY + "test_certainty_equivalence_steers_the_mean"]),
    "the wrong sign of the action": (
        CONTROL, "np.asarray(-np.matmul", "np.asarray(np.matmul", [TRANSCRIPTION, LAZY + "test_certainty_equivalence_steers_the_mean"]),
    "draws outside are used": (
        PLANNER, "bool(called(", "True or bool(called(",
        [LAZY + "test_draws_outside_are_drawn_again", LOCKSTEP]),
    "the mean is used in silence": (
        PLANNER, "        of_mean[left] = True", "        pass", [LAZY + "test_after_so_many_tries_the_mean_is_used"]),
    "one try too many": (
        PLANNER, "for _ in range(rule.tries):", "for _ in range(rule.tries + 1):",
        [LAZY + "test_after_so_many_tries_the_mean_is_used"]),
    "all replicates draw with the first": (
        PLANNER, "    left = np.flatnonzero(new)", "    left = np.arange(new.size)", [LOCKSTEP]),
    "a fresh draw restarts every replicate's determinant": (
        PLANNER, "np.where(new, now, memory.log_det)", "now", [LOCKSTEP]),
    "every n steps is one late": (PLANNER, "memory.steps >= rule.schedule", "memory.steps > rule.schedule", [LAZY + "test_other_schedules"]),
    "doubling forgets what was gained": (SOLVER, "G[r, c] += g", "G[r, c] = g", [RICCATI + "test_equal_to_plain_iteration"]),
    "doubling stops early": (
        SOLVER, "change <= 1e-15 * size and left < 1e-8", "change <= 1e-3 * size and left < 1e-1",
        [RICCATI + "test_equal_to_plain_iteration"]),
    "an unstable loop passes": (
        SOLVER, "done = change <= 1e-15 * size and left < 1e-8", "done = change <= 1e-15 * size",
        [RICCATI + "test_an_unstable_part_that_costs_nothing_is_stabilised"]),
    "the gain forgets R": (SOLVER, "M[r, c] = R[r, c]", "M[r, c] = 0.0", [RICCATI + "test_equal_to_plain_iteration"]),
    "pivots are not exchanged": (
        SOLVER, "p = r if abs(M[r, c]) > abs(M[p, c]) else p", "p = c", [RICCATI + "test_elimination_with_pivots"]),
    "the cost forgets W": (
        SOLVER, "float(np.sum(P * W))", "float(np.trace(P))", [RICCATI + "test_facts", RICCATI + "test_the_cost_is_that_of_the_stationary_covariance"]),
    "the cost of the state after the step": (
        PLACE + "_linear", "cost = ((x @ self.Q) * x)", "cost = ((new @ self.Q) * new)", [WORLDS + "test_steps"]),
    "noise without its correlation": (
        PLACE + "_linear", "E @ self._spread.T", "E @ self.noise", [WORLDS + "test_steps"]),
    "a family without its restriction": (
        PLACE + "lq", "if not inside(a, b)]", "if False]", [WORLDS + "test_the_family_draws_what_it_says"]),
    "regret with the wrong sign": (
        "bayesrl.lab.measures.regret", "self.judged.average_reward - reward", "reward - self.judged.average_reward",
        [LAZY + "test_regret_on_the_family"]),
    "a world's suggestions do not reach planners": (
        "bayesrl.lab.build", "{**suggested(world, entry), **params}", "params",
        [WORLDS + "test_the_restriction_reaches_the_planner"]),
}  # fmt: skip


@pytest.mark.parametrize("name", MUTANTS)
def test_mutant_is_caught(name, assert_caught):
    assert_caught(name, *MUTANTS[name])
