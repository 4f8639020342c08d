"""Planted bugs in MAP inference, in EM for several experts and in the highway; see test_mutants.py."""

import pytest

MAP, EM, ROAD = (f"tests/inverse/test_{name}.py::" for name in ("map_birl", "em_irl", "highway"))
INVERSE = "bayesrl.inverse."

MUTANTS = {
    # name: (module, old, new, tests)
    "the policy is held fixed in the Boltzmann gradient": (
        INVERSE + "_boltzmann", "D = p * (1.0 + self.c * (Q - V))", "D = p",
        [EM + "test_gradients_equal_finite_differences"]),
    "the transposed system is not transposed": (
        INVERSE + "_boltzmann", 'np.einsum("sa,say->ys"', 'np.einsum("sa,say->sy"',
        [EM + "test_gradients_equal_finite_differences"]),
    "the backup takes the maximum": (
        INVERSE + "_boltzmann", "            mean /= total\n", "            mean = top\n",
        [EM + "test_the_backup_iterated_plainly"]),
    "a backup that does not converge is returned": (
        INVERSE + "_boltzmann", "if not change <= ACCURACY:", "if False:",
        [EM + "test_a_backup_that_goes_round_in_circles_is_refused"]),
    "responsibilities are not normalised": (
        INVERSE + "em_irl", "return np.asarray(special.softmax(joint, axis=1))", "return np.exp(joint)",
        [EM + "test_shares_and_responsibilities"]),
    "the E step forgets the shares": (
        INVERSE + "em_irl", "joint = np.log(rho) + np.array(", "joint = 0.0 * rho + np.array(",
        [EM + "test_shares_and_responsibilities"]),
    "every kind is fitted to all trajectories": (
        INVERSE + "em_irl", "n = Counts(self.states, np.tensordot(z, self.taken, 1))",
        "n = Counts(self.states, self.taken.sum(axis=0))", [EM + "test_a_fixed_point_is_a_maximum"]),
    "the worst entry of a finite prior": (
        INVERSE + "em_irl", "first_best(log_l @ z)", "first_best(-(log_l @ z))",
        [EM + "test_finite_prior_by_enumeration"]),
    "an old policy's map is used where it is not optimal": (
        INVERSE + "map_birl", "            if not worse.any():\n", "            if True:\n",
        [MAP + "test_values_and_gradients_equal_finite_differences"]),
    "the gradient forgets later rewards": (
        INVERSE + "map_birl", ' + after @ self.values(pi))', ' + 0.0 * (after @ self.values(pi)))',
        [MAP + "test_values_and_gradients_equal_finite_differences"]),
    "the gradient forgets the prior": (
        INVERSE + "map_birl", "return value, self.prior.gradient(w) + self.maps", "return value, self.maps",
        [MAP + "test_values_and_gradients_equal_finite_differences"]),
    "a finite prior's probabilities are not used": (
        INVERSE + "map_birl", "return prior if prior == -np.inf else prior + log", "return prior if prior == -np.inf else log",
        [MAP + "test_finite_prior"]),
    "the worst start is kept": (
        INVERSE + "map_birl", "np.array([trace[-1] for", "-np.array([trace[-1] for", [MAP + "test_restarts_leave_local_maxima"]),
    "maps are never kept": (
        INVERSE + "map_birl", "            self.kept[key] = X\n", "            self.kept = {key: X}\n",
        [MAP + "test_maps_are_kept_and_used_while_their_policy_is_optimal"]),
    "two cars arrive at once": (
        "bayesrl.worlds.tasks.highway", "np.delete(1.0 - drawn, i, axis=1).prod(axis=1)", "1.0",
        [ROAD + "test_moves_by_hand"]),
    "cars move by the new speed": (
        "bayesrl.worlds.tasks.highway", "moved = road + speed[:, None] + 1", "moved = road + new_speed[:, None] + 1",
        [ROAD + "test_values_of_the_facts"]),
}  # fmt: skip


@pytest.mark.parametrize("name", MUTANTS)
def test_mutant_is_caught(name, assert_caught):
    assert_caught(name, *MUTANTS[name])
