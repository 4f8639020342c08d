"""Planted bugs in searches on continuous beliefs; see test_mutants.py."""

import pytest

SPARSE = "tests/continuous/test_gp_sparse_sampling.py::"
WORLD = "tests/worlds/test_continuous_bandit.py::"
GP = "bayesrl.continuous.gp_sparse_sampling"
BANDIT = "bayesrl.worlds.continuous.continuous_bandit"
CLOSED = SPARSE + "test_two_decisions_are_the_closed_form_of_two_actions"
NAIVE = SPARSE + "test_equal_to_a_transcription_that_conditions_densely"

MUTANTS = {
    # name: (module, old, new, tests)
    "the variance of a candidate is not reduced by its rewards": (
        GP, "        c[d] -= c[j, a] * c[j]\n", "        pass\n", [NAIVE]),
    "the variance of a reward does not know the rewards before": (
        GP, "        v -= c[j, a] * c[j, a]\n", "        pass\n", [NAIVE]),
    "the belief is not updated in the tree": (
        GP, "mean[d + 1] = mean[d] + c[d] * seen[d]", "mean[d + 1] = mean[d]", [CLOSED]),
    "rewards without noise": (GP, "    v = S[a, a] + noise * noise\n", "    v = S[a, a]\n", [CLOSED]),
    "the maximum over rewards": (
        GP, "t.total[path[D - 1]] += t.value[node]",
        "t.total[path[D - 1]] = max(t.total[path[D - 1]] / max(t.children[path[D - 1]] - 1, 1), t.value[node]) * "
        "t.children[path[D - 1]]",
        [CLOSED]),
    "the maximum outside the mean over rewards": (
        GP, "t.value[node] = mean[D].max()", "t.value[node] = mean[D, np.argmax(m)]", [CLOSED]),
    "the reward of a decision in the tree is left out": (
        GP, "best = max(best, t.paid[e] + t.total[e]", "best = max(best, t.total[e]", [NAIVE]),
    "the last action tried instead of the best": (
        GP, "best = max(best, t.paid[e] + t.total[e] / t.children[e])", "best = t.paid[e] + t.total[e] / t.children[e]",
        [NAIVE]),
    "functions of the tree are drawn from the root's belief": (
        GP, "f += c[j] * (seen[j] - y)", "f += 0.0 * c[j] * (seen[j] - y)", [NAIVE]),
    "the mean instead of a function": (
        GP, "        f[j:] += rng.standard_normal() * root[j, j:]", "        f[j:] += 0.0 * rng.standard_normal() * root[j, j:]",
        [SPARSE + "test_thompson_takes_an_action_with_its_probability_of_being_best"]),
    "draws forget the covariance": (
        GP, "            root[i, i:] -= root[j, i] * root[j, i:]", "            root[i, i] -= root[j, i] * root[j, i]",
        [SPARSE + "test_draws_have_the_moments_of_the_belief"]),
    "the same reward again and again": (
        GP, "t.reward[node] = z[d, t.children[e]]", "t.reward[node] = z[d, 0]", [CLOSED]),
    "Thompson's action is the greedy one": (
        GP, 'int(np.argmax(function)), {"q": m', 'int(np.argmax(m)), {"q": m',
        [SPARSE + "test_thompson_takes_an_action_with_its_probability_of_being_best"]),
    "the observation is learnt instead of the action": (
        "bayesrl.beliefs.values.gp_regression", '"action", datum.action, self.dims', '"action", datum.observation, self.dims',
        [SPARSE + "test_it_learns_actions_and_rewards"]),
    "weights of a drawn function are its values": (
        BANDIT, "@ z / np.sqrt(values[kept])", "@ z * np.sqrt(values[kept])",
        [WORLD + "test_functions_have_the_covariance_of_the_process"]),
}  # fmt: skip


@pytest.mark.parametrize("name", MUTANTS)
def test_mutant_is_caught(name, assert_caught):
    assert_caught(name, *MUTANTS[name])
