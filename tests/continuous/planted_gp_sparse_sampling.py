"""Planted bugs of bayesrl.continuous.gp_sparse_sampling."""

MODULE = "bayesrl.continuous.gp_sparse_sampling"
PLANTED = {
    "the variance of a candidate is not reduced by its rewards": (
        "            x -= c[j, a] * c[j, i]\n",
        "            pass\n",
        ["tests/continuous/test_gp_sparse_sampling.py::test_equal_to_a_transcription_that_conditions_densely"],
    ),
    "the variance of a reward does not know the rewards before": (
        "        v -= c[j, a] * c[j, a]\n",
        "        pass\n",
        ["tests/continuous/test_gp_sparse_sampling.py::test_equal_to_a_transcription_that_conditions_densely"],
    ),
    "the belief is not updated in the tree": (
        "mean[d, i] + c[d, i] * seen[d]",
        "mean[d, i]",
        ["tests/continuous/test_gp_sparse_sampling.py::test_two_decisions_are_the_closed_form_of_two_actions"],
    ),
    "rewards without noise": (
        "    v = S[a, a] + noise * noise\n",
        "    v = S[a, a]\n",
        ["tests/continuous/test_gp_sparse_sampling.py::test_two_decisions_are_the_closed_form_of_two_actions"],
    ),
    "the maximum over rewards": (
        "t.total[path[D - 1]] += t.value[node]",
        "t.total[path[D - 1]] = max(t.total[path[D - 1]] / max(t.children[path[D - 1]] - 1, 1), t.value[node]) * t.children[path[D - 1]]",
        ["tests/continuous/test_gp_sparse_sampling.py::test_two_decisions_are_the_closed_form_of_two_actions"],
    ),
    "the maximum outside the mean over rewards": (
        "t.value[node] = mean[D].max()",
        "t.value[node] = mean[D, np.argmax(m)]",
        ["tests/continuous/test_gp_sparse_sampling.py::test_two_decisions_are_the_closed_form_of_two_actions"],
    ),
    "the reward of a decision in the tree is left out": (
        "best = max(best, t.paid[e] + t.total[e]",
        "best = max(best, t.total[e]",
        ["tests/continuous/test_gp_sparse_sampling.py::test_equal_to_a_transcription_that_conditions_densely"],
    ),
    "the last action tried instead of the best": (
        "best = max(best, t.paid[e] + t.total[e] / t.children[e])",
        "best = t.paid[e] + t.total[e] / t.children[e]",
        ["tests/continuous/test_gp_sparse_sampling.py::test_equal_to_a_transcription_that_conditions_densely"],
    ),
    "functions of the tree are drawn from the root's belief": (
        "f[i] += c[j, i] * (seen[j] - y)",
        "f[i] += 0.0 * c[j, i] * (seen[j] - y)",
        ["tests/continuous/test_gp_sparse_sampling.py::test_equal_to_a_transcription_that_conditions_densely"],
    ),
    "the mean instead of a function": (
        "            f[i] += z * root[j, i]",
        "            f[i] += 0.0 * z * root[j, i]",
        [
            "tests/continuous/test_gp_sparse_sampling.py::test_thompson_takes_an_action_with_its_probability_of_being_best"
        ],
    ),
    "draws forget the covariance": (
        "left[i, k] -= root[j, i] * root[j, k]",
        "left[i, k] -= 0.0 * root[j, i]",
        ["tests/continuous/test_gp_sparse_sampling.py::test_draws_have_the_moments_of_the_belief"],
    ),
    "the same reward again and again": (
        "t.reward[node] = z[d, t.children[e]]",
        "t.reward[node] = z[d, 0]",
        ["tests/continuous/test_gp_sparse_sampling.py::test_two_decisions_are_the_closed_form_of_two_actions"],
    ),
    "Thompson's action is the greedy one": (
        'first_best(function), {"q": m',
        'first_best(m), {"q": m',
        [
            "tests/continuous/test_gp_sparse_sampling.py::test_thompson_takes_an_action_with_its_probability_of_being_best"
        ],
    ),
}
