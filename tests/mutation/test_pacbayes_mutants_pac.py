"""Planted bugs in PAC-Bayes; see test_mutants.py."""

import pytest

BOUNDS, SELECT = "tests/pacbayes/test_bounds.py::", "tests/pacbayes/test_select.py::"
COVERAGE = "tests/pacbayes/test_coverage.py::"
HOME = "bayesrl.pacbayes."

MUTANTS = {
    # name: (module, old, new, tests)
    "KL forgotten in the lemma": (
        HOME + "_lemma", "sqrt((kl + log1p(C * c)", "sqrt((log1p(C * c)",
        [COVERAGE + "test_the_lemma_fails_rarely_where_its_tails_are_exact"]),
    "KL forgotten in the l1 form": (
        HOME + "pac_bayes_model", "sqrt((kl - log(delta)", "sqrt((0.0 - log(delta)", [BOUNDS + "test_model_bound_by_hand"]),
    "KL forgotten for losses": (
        HOME + "_divergence", "sqrt((kl + log(2.0)", "sqrt((log(2.0)", [BOUNDS + "test_function_approximation_bound_by_hand"]),
    "KL forgotten for bandits": (
        HOME + "pac_bayes_bandit", "(kl + sure) / lam", "sure / lam", [BOUNDS + "test_bandit_bound_by_hand"]),
    "no union over states": (
        HOME + "pac_bayes_model", "bound(kl, 2.0 * S,", "bound(kl, 2.0,", [BOUNDS + "test_model_bound_by_hand"]),
    "one discount of the simulation lemma is lost": (
        HOME + "pac_bayes_model", "k = (1.0 - gamma) ** 2", "k = (1.0 - gamma)", [BOUNDS + "test_model_bound_by_hand"]),
    "no union over actions": (
        HOME + "pac_bayes_value", "2.0 * S * A", "2.0 * S", [BOUNDS + "test_value_bound_by_hand"]),
    "the Bellman error is taken for the distance": (
        HOME + "pac_bayes_value", "(error + deviation) / (1.0 - gamma)", "error + deviation",
        [BOUNDS + "test_value_bound_by_hand"]),
    "mixing is not squared": (
        HOME + "pac_bayes_function_approximation", "n / mixing**2", "n / mixing",
        [BOUNDS + "test_function_approximation_bound_by_hand"]),
    "lambda beyond epsilon": (
        HOME + "pac_bayes_bandit", "lam = min(eps, sqrt((log(K) + sure) * eps / ((e - 2.0) * t)))",
        "lam = sqrt((log(K) + sure) * eps / ((e - 2.0) * t))", [BOUNDS + "test_bandit_bound_by_hand"]),
    "KL the wrong way round": (
        HOME + "_divergence", "rel_entr(q, p)", "rel_entr(p, q)", [BOUNDS + "test_kl_by_hand"]),
    "the noise of a TD error without its policy": (
        HOME + "pac_bayes_function_approximation", "(target - mean[:, None, None]) ** 2", "(target - V[:, None, None]) ** 2",
        [BOUNDS + "test_decomposition_sums_over_all_transitions"]),
    "the start for the stationary distribution": (
        HOME + "pac_bayes_function_approximation", "mdp.outcomes.start @ L)", "mdp.outcomes.start)",
        [BOUNDS + "test_decomposition_sums_over_all_transitions"]),
    "selection forgets the bound": (
        HOME + "_select", "np.array([one.lower for", "np.array([one.empirical for",
        [SELECT + "test_selection_is_the_best_of_those_tried"]),
    "Gibbs forgets the prior": (
        HOME + "_select", "weights = p * np.exp(", "weights = np.exp(", [SELECT + "test_selection_is_the_best_of_those_tried"]),
    "all visits count": (
        HOME + "_prior_check", "if seen[s, a] < n:", "if True:",
        [SELECT + "test_only_first_visits_count_and_policies_with_unseen_pairs_pay"]),
    "policies that cannot be estimated are free": (
        HOME + "_prior_check", "kl=best.kl + price if best else 0.0", "kl=best.kl if best else 0.0",
        [SELECT + "test_only_first_visits_count_and_policies_with_unseen_pairs_pay"]),
    "the choice of n is free": (
        HOME + "_prior_check", "sure = delta / n / (n + 1)", "sure = delta", [SELECT + "test_guarantees_by_hand"]),
    "a policy made from the data is free": (
        HOME + "_prior_check", "(1.0 - DOUBT) * drawn + DOUBT *", "drawn + 0.0 * drawn + 1.0 *",
        [SELECT + "test_guarantees_by_hand"]),
    "rewards of next states count as known": (
        HOME + "_prior_check", "belief.rewards_known and pairs_pay(mdp)", "belief.rewards_known",
        [SELECT + "test_rewards_of_next_states_and_ends"]),
}  # fmt: skip


@pytest.mark.parametrize("name", MUTANTS)
def test_mutant_is_caught(name, assert_caught):
    assert_caught(name, *MUTANTS[name])
