"""Planted bugs in searches on continuous beliefs; see test_mutants.py."""

import pytest

SPARSE = "tests/continuous/test_gp_sparse_sampling.py::"
WORLD = "tests/worlds/test_continuous_bandit.py::"
GP = "bayesrl.continuous.gp_sparse_sampling"
BANDIT = "bayesrl.worlds.continuous.continuous_bandit"
CLOSED = SPARSE + "test_two_decisions_are_the_closed_form_of_two_actions"
NAIVE = SPARSE + "test_equal_to_a_transcription_that_conditions_densely"

SEARCH = "tests/continuous/test_continuous_forward_search.py::"
FORWARD, TREE = "bayesrl.continuous.continuous_forward_search", "bayesrl.beliefs.continuous._gp_tree"
SAME, LEVELS = (
    SEARCH + "test_the_compiled_tree_is_the_plain_one",
    SEARCH + "test_every_level_and_the_leaf_are_discounted",
)
DRIFT, PROCESS = (
    SEARCH + "test_three_decisions_are_quadrature",
    SEARCH + "test_three_decisions_on_a_process_are_quadrature",
)
UPDATED = "new = belief.update(Transition(observation, a, float(rewards[k]), z), rng)"

MUTANTS = {
    # name: (module, old, new, tests)
    "a search that does not learn": (FORWARD, UPDATED, "new = belief", [SAME]),
    "a search that learns from where it was": (
        FORWARD, UPDATED, UPDATED.replace(", z), rng", ", observation), rng"), [DRIFT]),
    "a compiled tree that does not learn": (TREE, "learn(gp, n + level, number)", "learn(gp, n + level, 0.0 * number)",
        [SAME]),
    "a compiled tree that forgets the first decision": (
        TREE, "predict(gp, n + level, s, A[k], m, sd)", "predict(gp, n, s, A[k], m, sd)", [PROCESS]),
    "fresh random numbers for each action": (
        FORWARD, "default_rng(int(t.seeds[level][node]))", "default_rng([k, int(t.seeds[level][node])])",
        [SEARCH + "test_the_same_random_numbers_serve_all_actions"]),
    "fresh random numbers for each action of the compiled tree": (
        TREE, "z[before + same * C + i]", "z[before + (same * C + i + k) % shared]", [SAME]),
    "the same random numbers at all nodes of a level": (
        FORWARD, "node * t.width + i)", "0)", [SAME]),
    "one level without discount": (
        FORWARD, "rewards[k] + t.gamma * after.mean()", "rewards[k] + (t.gamma if level > 0 else 1.0) * after.mean()",
        [LEVELS]),
    "the leaf is not discounted": (
        FORWARD, "after = t.leaves(drawn)", "after = t.leaves(drawn) / t.gamma", [LEVELS]),
    "the leaf of the compiled tree is not discounted": (
        FORWARD, "else t.leaves(levels[-1])", "else t.leaves(levels[-1]) / t.gamma", [SAME]),
    "the compiled tree without discount": (FORWARD, "here += t.gamma * after", "here += after", [PROCESS]),
    "one decision too few": (
        FORWARD, "    if level == t.depth - 1 and t.leaf is None:\n", "    if level >= t.depth - 2 and t.leaf is None:\n",
        [LEVELS]),
    "the maximum of the average": (
        FORWARD, "after = np.max([belief.expected_rewards(drawn, b) for b in t.actions], axis=0)",
        "after = np.max([np.full(t.width, belief.expected_rewards(drawn, b).mean()) for b in t.actions], axis=0)",
        [SEARCH + "test_the_maximum_is_inside_the_mean"]),
    "the largest draw instead of the mean": (FORWARD, "after.mean()", "after.max()", [DRIFT]),
    "particles are not thinned": (
        FORWARD, "belief.thinned(self.inner, rng) if offers(belief, Thins) else belief", "belief",
        [SEARCH + "test_particles_are_thinned_inside_the_tree"]),
    "the first decision is valued with few particles": (
        FORWARD, "np.array([belief.expected_reward(observation, a) for a in A])",
        "np.array([(belief.thinned(self.inner, rng) if offers(belief, Thins) else belief).expected_reward(observation, a) "
        "for a in A])", [SEARCH + "test_particles_are_thinned_inside_the_tree"]),
    "draws of the lower half": (
        "bayesrl.beliefs.continuous._strata", "rng.integers(OVER, size=width)", "rng.integers(OVER // 2, size=width)",
        [SEARCH + "test_two_decisions_are_the_closed_form"]),
    "draws that are not spread": (
        "bayesrl.beliefs.continuous._strata", "np.argsort(key, kind=\"stable\")", "np.arange(len(key))",
        [SEARCH + "test_two_decisions_are_the_closed_form"]),
    "the variance of a candidate is not reduced by its rewards": (
        GP, "            x -= c[j, a] * c[j, i]\n", "            pass\n", [NAIVE]),
    "the variance of a reward does not know the rewards before": (
        GP, "        v -= c[j, a] * c[j, a]\n", "        pass\n", [NAIVE]),
    "the belief is not updated in the tree": (
        GP, "mean[d, i] + c[d, i] * seen[d]", "mean[d, i]", [CLOSED]),
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
        GP, "f[i] += c[j, i] * (seen[j] - y)", "f[i] += 0.0 * c[j, i] * (seen[j] - y)", [NAIVE]),
    "the mean instead of a function": (
        GP, "            f[i] += z * root[j, i]", "            f[i] += 0.0 * z * root[j, i]",
        [SPARSE + "test_thompson_takes_an_action_with_its_probability_of_being_best"]),
    "draws forget the covariance": (
        GP, "left[i, k] -= root[j, i] * root[j, k]", "left[i, k] -= 0.0 * root[j, i]",
        [SPARSE + "test_draws_have_the_moments_of_the_belief"]),
    "the same reward again and again": (
        GP, "t.reward[node] = z[d, t.children[e]]", "t.reward[node] = z[d, 0]", [CLOSED]),
    "Thompson's action is the greedy one": (
        GP, 'first_best(function), {"q": m', 'first_best(m), {"q": m',
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
