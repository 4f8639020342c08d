"""Planted bugs in sub-goals, clusters of experts, Langevin steps and multi-task BIRL; see test_mutants.py."""

import pytest

BNIRL, DPM, TASKS = (f"tests/inverse/test_{name}.py::" for name in ("bnirl", "dpm_birl", "multitask_birl"))
INVERSE = "bayesrl.inverse."
PARTITIONS = BNIRL + "test_draws_follow_the_enumerated_partitions[4-0.5-candidates0]"
DENSITIES = DPM + "test_densities_follow_the_enumerated_partitions"
KEPT = "tests/inverse/test_calibration_of_tasks.py::test_sweeps_keep_the_joint_distribution"
EXACT = TASKS + "test_exact_posterior_is_the_enumerated_one"

MUTANTS = {
    # name: (module, old, new, tests)
    "an observation stays in its cluster's size": (
        INVERSE + "_clustered", "                size[z[i]] -= 1.0\n", "                size[z[i]] -= 0.0\n",
        [BNIRL + "test_concentration_pools_and_separates"]),
    "a new cluster forgets the concentration": (
        INVERSE + "_clustered", "seats, new_one = c, True", "seats, new_one = 1.0, True", [PARTITIONS]),
    "goals are not summed out": (
        INVERSE + "_clustered", "weight[j] += seats * p[j, g] * L[i, g]", "weight[j] += seats * L[i, g] / G", [PARTITIONS]),
    "the sub-goal pays in every state but itself": (
        INVERSE + "bnirl", "            R[goal] = 1.0\n", "            R[goal] = -1.0\n", [PARTITIONS]),
    "proposed clusters ignore their sizes": (
        INVERSE + "dpm_birl", "np.append(size, self.concentration)", "np.append(size > 0.0, self.concentration)",
        [DENSITIES]),
    "Langevin proposals are clipped to the box": (
        INVERSE + "_langevin", "    after = belief.log_posterior(new)\n",
        "    new = np.clip(new, -1.0, 1.0)\n    after = belief.log_posterior(new)\n", [DENSITIES]),
    "Langevin steps forget the way back": (
        INVERSE + "_langevin", "after - before + 0.5 * (noise @ noise - xi @ xi)", "after - before",
        [DPM + "test_langevin_by_hand"]),
    "acceptance is a ratio of exponentials": (
        INVERSE + "_target", "if np.log(rng.random()) < log_ratio:",
        "if rng.random() < np.exp(self.log_posterior(new)) / np.exp(self.log_posterior(self.now.weights)):",
        [DPM + "test_long_trajectories_do_not_underflow"]),
    "the step changes after the warm-up": (
        INVERSE + "dpm_birl", "0 if self.step or len(self.assignments) else WARM_UP", "0 if self.step else WARM_UP",
        [DPM + "test_a_warm_up_finds_the_step[4-10.0]"]),
    "a new trajectory ignores the sizes of clusters": (
        INVERSE + "dpm_birl", "np.append(times.astype(float), c * prior)", "np.append(np.ones(len(times)), c * prior)",
        [DPM + "test_draws_follow_the_enumerated_partitions[4-0.5]"]),
    "every task is scored on all demonstrations": (
        INVERSE + "multitask_birl", "return np.asarray(self.taken @ self._log_policies.T)",
        "return np.asarray((0.0 * self.taken + self.taken.sum(axis=0)) @ self._log_policies.T)", [EXACT]),
    "tasks do not share their prior": (
        INVERSE + "multitask_birl", "np.tensordot(self.hyper_posterior(), each, axes=1)",
        "np.tensordot(np.asarray(self.hyper), each, axes=1)", [EXACT]),
    "theta is drawn without the rewards": (
        INVERSE + "multitask_birl", "[sum(q.log_density(x.weights) for x in now) for q in self.priors]",
        "[0.0 for q in self.priors]", [TASKS + "test_draws_agree_with_quadrature"]),
    "theta is drawn without its own prior": (  # quadrature has equal probabilities and does not see it
        INVERSE + "multitask_birl", "normalised(self._log_hyper + [sum", "normalised(0.0 * self._log_hyper + [sum", [KEPT]),
    "rewards move by the density of the first prior": (
        INVERSE + "multitask_birl", "Target(self, self.priors[theta], self.taken[m]",
        "Target(self, self.priors[0], self.taken[m]", [KEPT]),
    "rewards move by the demonstrations of all tasks": (
        INVERSE + "multitask_birl", "self.taken[m], now[m])", "self.taken.sum(axis=0), now[m])", [KEPT]),
    "a proposed reward is judged on all tasks": (
        INVERSE + "multitask_birl", "other.log_l[m] - now[m].log_l[m]", "other.log_l.sum() - now[m].log_l.sum()",
        [TASKS + "test_draws_agree_with_quadrature"]),
    "the prior of policies is not normalised": (
        INVERSE + "multitask_birl", "+ self.sums[:-1] - self.sums[-1])", "+ self.sums[:-1])",
        [TASKS + "test_the_model_of_policies_agrees_with_quadrature"]),
}  # fmt: skip


@pytest.mark.parametrize("name", MUTANTS)
def test_mutant_is_caught(name, assert_caught):
    assert_caught(name, *MUTANTS[name])
