"""Planted bugs in policies, tables, solvers and adapters; see test_mutants.py."""

import pytest

POLICY, ARRAYS, SOLVERS = (f"tests/models/test_{name}.py::" for name in ("policy", "arrays", "solvers"))
FILE, FILES = "bayesrl.models.pomdp_file", "tests/models/test_pomdp_file.py::"
GYM, HIDDEN = "tests/adapters/test_gymnasium.py::", "tests/worlds/test_hidden_state.py::"

MUTANTS = {
    # name: (module, old, new, tests)
    "the score forgets its mean": (
        "bayesrl.models.policies.softmax_policy", "gap = -np.exp(log_p)", "gap = 0.0 * log_p",
        [POLICY + "test_the_score_is_the_gradient_of_log_prob[softmax]"]),
    "the score of features is not centred": (
        "bayesrl.models.policies.softmax_policy", "gap = -np.exp(log_p)", "gap = 0.0 * log_p",
        [POLICY + "test_the_mean_score_is_zero[features]"]),
    "a Gaussian score forgets a square": (
        "bayesrl.models.policies.gaussian_policy", "np.outer(z, phi).ravel() / self.sigma**2",
        "np.outer(z, phi).ravel() / self.sigma",
        [POLICY + "test_the_score_is_the_gradient_of_log_prob[gaussian]"]),
    "actions of probability zero are drawn": (
        "bayesrl.models.policies._sampling", 'total = np.cumsum(p)', 'total = np.cumsum(p + 0.05)',
        [POLICY + "test_samples_have_the_frequencies_that_log_prob_says[stochastic]"]),
    "a controller keeps its node into the next episode": (
        "bayesrl.models.policies.controller_policy", "if transition.ends_episode:", "if False:",
        [POLICY + "test_a_controller_walks_its_nodes"]),
    "unlisted moves pay nothing": (
        "bayesrl.models._listed", "    return frozen(most_probable(", "    return frozen(0.0 * most_probable(",
        [GYM + "test_flat_rewards_do_not_tell_the_successor"]),
    "every unlisted move pays what its pair pays": (
        "bayesrl.models._listed", "if is_function(y, r, t.S):", "if False:",
        [GYM + "test_flat_rewards_do_not_tell_the_successor"]),
    "an end in a state that goes on is dropped": (
        "bayesrl.beliefs.tabular._outcome_reading", "    return outcomes.end\n", "    return y\n",
        [GYM + "test_taxi_is_learnt_in_the_users_own_loop[flat]"]),
    "runs share an environment": (
        "bayesrl.adapters.gymnasium", "        return GymWorld(made, self.gamma)", "        return self",
        [GYM + "test_fresh_environments"]),
    "gathered rows are not discounted": (
        "bayesrl.models.solvers._modified_policy_iteration", "m.gamma * m.prob[g, k]) if", "m.prob[g, k]) if",
        [SOLVERS + "test_gathered_sweeps_equal_plain_ones"]),
    "a gathered row is never replaced": (
        "bayesrl.models.solvers._modified_policy_iteration", "if pi[s] == there[s]:", "if there[s] >= 0:",
        [SOLVERS + "test_gathered_sweeps_equal_plain_ones"]),
    "the shift of gathered rows is not discounted": (
        "bayesrl.models.solvers._modified_policy_iteration", "shift = gamma * shift + c", "shift = shift + c",
        [SOLVERS + "test_gathered_sweeps_equal_plain_ones"]),
    "sweeps on a cycle never give up": (
        "bayesrl.models.solvers._modified_policy_iteration", "    last = policy_iteration(m, found.values, target)\n",
        "    last = found\n", [SOLVERS + "test_cycles_at_a_discount_near_one[0]"]),
    "the oracle guesses": (
        "bayesrl.worlds.oracles.asking_for_state", "(state, after) if ask", "(0, 0) if ask",
        [HIDDEN + "test_the_hidden_state_is_recorded_if_asked_for"]),
    "a star in a file is not overridden": (
        FILE, "in pairwise(runs):", "in sorted(pairwise(runs), key=lambda run: int(pattern[run[0]])):",
        [FILES + "test_the_tiger"]),
    "six-digit rows are refused": (
        FILE, "ROUNDED = 1e-4 + 1e-12", "ROUNDED = 1e-9", [FILES + "test_rounded_rows_are_divided"]),
    "rounded rows are not divided": (
        FILE, "table[rounded] /= total[rounded][:, None]", "pass", [FILES + "test_rounded_rows_are_divided"]),
    "costs keep their sign": (
        FILE, "R if sign > 0.0 else 0.0 - R", "R",
        [FILES + "test_random_files_say_what_a_naive_reader_finds"]),
    "a later statement of another form loses": (
        FILE, "in pairwise(runs):", "in reversed(list(pairwise(runs))):",
        [FILES + "test_random_files_say_what_a_naive_reader_finds"]),
    "a later statement of the same form loses": (
        FILE, "(places[i:j, k] for k in named)] = x[i:j].",
        "(places[i:j, k][::-1].copy() for k in named)] = x[i:j][::-1].copy().",
        [FILES + "test_a_later_line_wins"]),
    "a reward matrix is transposed": (
        FILE, "low).reshape(shape[n:])", "low).reshape(shape[n:][::-1]).T",
        [FILES + "test_random_files_say_what_a_naive_reader_finds"]),
    "rewards forget what is seen": (
        FILE, "and entry.all() and", "and", [FILES + "test_random_files_say_what_a_naive_reader_finds"]),
    "a missing discount is guessed": (
        FILE, 'if "discount" in given else 1.0', 'if "discount" in given else 0.95',
        [FILES + "test_what_is_missing_is_not_guessed"]),
    "an exclusion includes": (FILE, "chosen = ~chosen", "pass", [FILES + "test_starts"]),
    "ends pay in a file": (
        FILE, "paid[pomdp.terminal] = 0.0", "pass", [FILES + "test_ends_are_written_as_states_that_pay_nothing"]),
    "digits are lost in a file": (
        FILE, "{number!r}", "{number:.15g}", [FILES + "test_what_was_written_is_read"]),
}  # fmt: skip


@pytest.mark.parametrize("name", MUTANTS)
def test_mutant_is_caught(name, assert_caught):
    assert_caught(name, *MUTANTS[name])
