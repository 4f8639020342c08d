"""Planted bugs in the optimistic planners, value of information and Bayesian Q-learning; see test_mutants.py."""

import pytest

BOSS, OPTIMISM, UNVISITED = (f"tests/bamdp/test_{name}.py::" for name in ("boss", "optimism", "unvisited"))
VOI, BQL, PAC = (f"tests/bamdp/test_{name}.py::" for name in ("voi", "bayesian_q_learning", "pac_bounds"))
PLANNERS, ENDS = "tests/bamdp/test_planners.py::", "tests/models/test_episodic.py::"

MUTANTS = {
    # name: (module, old, new, tests)
    "BOSS redraws one visit late": (
        "bayesrl.bamdp.sampling.boss", "== self._knownness(belief)", "== self._knownness(belief) + 1",
        [BOSS + "test_boss_equals_its_transcription[tied]"]),
    "BOSS redraws at every visit beyond B": (
        "bayesrl.bamdp.sampling.boss", "== self._knownness(belief)", ">= self._knownness(belief)",
        [BOSS + "test_boss_equals_its_transcription[tied]"]),
    "the hyper-model averages its models": (
        "bayesrl.bamdp.sampling._hyper_model", "-1, A).max(axis=1)", "-1, A).mean(axis=1)",
        [BOSS + "test_hyper_model_dominates_each_model"]),
    "the hyper-model pays the first model's rewards": (
        "bayesrl.bamdp.sampling._hyper_model", "[_padded(m.reward, K) for", "[_padded(models[0].reward, K) for",
        [BOSS + "test_hyper_model_dominates_each_model[unknown]"]),
    "SBOSS measures from the belief before": (
        "bayesrl.bamdp.sampling.sboss", "        here = memory.q[s]",
        "        memory = memory._replace(then=moments_of(belief))\n        here = memory.q[s]",
        [BOSS + "test_sboss_equals_its_transcription[tied]"]),
    "SBOSS counts in variances": (
        "bayesrl.bamdp.sampling.sboss", "np.sqrt(belief.pair_variances())", "belief.pair_variances()",
        [BOSS + "test_sboss_equals_its_transcription[tied]"]),
    "SmartSampler uses every model everywhere": (
        "bayesrl.bamdp.sampling._hyper_model", "own = i < sizes", "own = i < sizes.max() + 0 * sizes",
        [BOSS + "test_smart_sampler_equals_its_transcription[tied]",
         BOSS + "test_smart_sampler_equals_its_transcription[terminal]"]),
    "rows of a pair are left out": (
        "bayesrl.bamdp.sampling._hyper_model", "np.where(i < sizes, first", "np.where(i < 1, first",
        [BOSS + "test_each_pair_may_choose_among_as_many_lists_as_it_has"]),
    "lists pay what the first outcomes pay": (
        "bayesrl.bamdp.sampling._hyper_model", "reward[rows[n], succ[n, k]]", "reward[rows[n], k]",
        [BOSS + "test_lists_are_the_models_they_stand_for"]),
    "all rows are the first one's": (
        "bayesrl.bamdp.sampling._hyper_model", "first[o.group][:, None, :] + i", "first[o.group][:, None, :] + 0 * i",
        [BOSS + "test_each_pair_may_choose_among_as_many_lists_as_it_has"]),
    "SmartSampler takes the mean variance": (
        "bayesrl.bamdp.sampling.smart_sampler", '.max(axis=1)\n', '.mean(axis=1)\n',
        [BOSS + "test_smart_sampler_equals_its_transcription[flat]"]),
    "VBRB counts in variances": (
        "bayesrl.bamdp.optimism.vbrb", "np.sqrt(variance_p)", "variance_p",
        [OPTIMISM + "test_vbrb_equals_its_transcription[flat]"]),
    "VBRB forgets that rewards are unknown": (
        "bayesrl.beliefs.tabular._unknown_rewards", "row_reward_variance(model, variance) + own",
        "row_reward_variance(model, variance) + 0.0 * own",
        [OPTIMISM + "test_vbrb_reward_variance_by_monte_carlo[pairs]"]),
    "VBRB's covariance has no n + 1": (
        "bayesrl.beliefs.tabular._known_rewards", "np.maximum(c *", "np.maximum(c / (1.0 - c) *",
        [OPTIMISM + "test_vbrb_variances_are_the_dirichlets[flat]"]),
    "BOLT imagines without dividing": (
        "bayesrl.bamdp.optimism.bolt", "eta / (count + eta)", "eta / (count + eta + 1.0)",
        [OPTIMISM + "test_bolt_equals_the_listed_extended_mdp[5.0-tied]"]),
    "BOLT imagines no rewards": (
        "bayesrl.beliefs.tabular._unknown_rewards", "+ extra * best)", "+ 0.0 * extra * best)",
        [OPTIMISM + "test_bolt_equals_the_listed_extended_mdp[5.0-unknown]"]),
    "BEB knows rewards as soon as transitions": (
        "bayesrl.bamdp.optimism.beb", "size * belief.inverse_reward_counts()", "0.0",
        [OPTIMISM + "test_beb_explores_rewards_where_transitions_are_known"]),
    "a known row is known, whatever it pays": (
        "bayesrl.beliefs.tabular._unknown_rewards", "np.zeros(self.outcomes.group.shape, np.bool_)",
        "self.transitions.certain_pairs()",
        [UNVISITED + "test_unknown_rewards_are_explored_where_transitions_are_known[rmax]"]),
    "BOLT imagines the first outcome, not the best": (
        "bayesrl.bamdp.optimism._imagined", "if x > top:", "if k == 0:",
        [OPTIMISM + "test_bolt_equals_the_listed_extended_mdp[5.0-tied]"]),
    "BOLT's eta by theory is one": (
        "bayesrl.bamdp.optimism.pac_bounds", "return float(horizon)", "return 1.0",
        [OPTIMISM + "test_bolt_is_optimistic_on_random_bamdps"]),
    "POT's deviation is a variance": (
        "bayesrl.bamdp.optimism.pot", "np.sqrt(belief.row_variance())", "belief.row_variance()",
        [OPTIMISM + "test_pot_equals_the_listed_extended_mdp[tied]"]),
    "POT's share may exceed one": (
        "bayesrl.bamdp.optimism.pot", "np.minimum(1.0, above)", "above",
        [OPTIMISM + "test_pot_lies_between_the_mean_model_and_bolt[tied]"]),
    "MBIE-EB's bonus falls as 1/n": (
        "bayesrl.bamdp.optimism.mbie_eb", "np.sqrt(np.maximum(n, 1.0))", "np.maximum(n, 1.0)",
        [UNVISITED + "test_mbie_eb_equals_its_transcription[mdp1-None]"]),
    "MBIE-EB has no optimistic absorbing state": (
        "bayesrl.bamdp.optimism.mbie_eb", "n == 0.0, worth", "n < 0.0, worth",
        [UNVISITED + "test_mbie_eb_equals_its_transcription[mdp1-None]"]),
    "R-max knows a pair one visit early": (
        "bayesrl.bamdp.optimism.rmax", "visits_of_pairs(visits, belief) < m", "visits_of_pairs(visits, belief) < m - 1",
        [UNVISITED + "test_rmax_equals_its_transcription[mdp1-None]"]),
    "R-max's absorbing state pays but once": (
        "bayesrl.bamdp.optimism._optimistic_state", ") / (1.0 - belief.gamma))", "))",
        [UNVISITED + "test_rmax_equals_its_transcription[mdp1-None]"]),
    "an untried pair is followed by what the model says": (
        "bayesrl.bamdp.optimism._optimistic_state", "np.where(untried.reshape(-1, 1), 0.0, m.matrix)", "m.matrix",
        [UNVISITED + "test_the_absorbing_state_need_not_be_listed[flat]"]),
    "the rows of untried pairs are not empty": (
        "bayesrl.bamdp.optimism._optimistic_state", "np.where(untried, np.int32(len(m.size)), m.group)", "m.group",
        [UNVISITED + "test_the_absorbing_state_need_not_be_listed[lists]"]),
    "values are shifted as if untried pairs did not end": (
        "bayesrl.bamdp.optimism._optimistic_state", "m.r)), shiftable=False)", "m.r)))",
        [UNVISITED + "test_values_are_not_shifted_where_pairs_end"]),
    "the survey's misprinted VPI": (
        "bayesrl.beliefs._choosing", "gain = np.maximum(q - mean[first], 0.0)",
        "gain = np.where(q > mean[second], q - mean[first], 0.0)", [VOI + "test_value_of_perfect_information_by_hand"]),
    "the best action gains by rising": (
        "bayesrl.beliefs._choosing", "gain[:, first] = np.maximum(mean[second] - q[:, first], 0.0)", "pass",
        [VOI + "test_value_of_perfect_information_by_hand"]),
    "weights are forgotten": (
        "bayesrl.bamdp.sampling.value_of_information", "weight = sample.weight * np.array(", "weight = np.array(",
        [VOI + "test_reweighting_equals_its_transcription"]),
    "a sample is never renewed": (
        "bayesrl.bamdp.sampling.value_of_information", "self.renew * self.samples * (weight**2).sum()", "0.0",
        [VOI + "test_reweighting_equals_its_transcription"]),
    "the future is certain": (
        "bayesrl.bamdp.baselines.bayesian_q_learning", "mu * mu + (lam + 1.0) / lam * beta / (alpha - 1.0)", "mu * mu",
        [BQL + "test_moment_update_by_hand"]),
    "the discount is not squared": (
        "bayesrl.bamdp.baselines.bayesian_q_learning", "gamma * gamma * second", "gamma * second",
        [BQL + "test_moment_update_by_hand"]),
    "the mixture forgets its spread of means": (
        "bayesrl.bamdp.baselines.bayesian_q_learning", "1.0 / lam + weight @ ((mu - mean) ** 2 * alpha / beta)", "1.0 / lam",
        [BQL + "test_mixture_update_matches_monte_carlo"]),
    "the end of an episode is no end": (
        "bayesrl.bamdp.baselines.bayesian_q_learning", "if y is None:", "if False:",
        [BQL + "test_learning_uses_the_seemingly_best_action_and_the_end"]),
    "VPI of the best action is that of another": (
        "bayesrl.bamdp.baselines.bayesian_q_learning", "== first, -1.0, 1.0)", "== first, 1.0, 1.0)",
        [BQL + "test_vpi_matches_integration"]),
    "BEB's theory has H for H^2": (
        "bayesrl.bamdp.optimism.pac_bounds", "2.0 * horizon**2 * reward_range", "2.0 * horizon * reward_range",
        [PAC + "test_bounds_by_hand"]),
    "a Dirichlet is known too soon": (
        "bayesrl.bamdp.optimism.pac_bounds", "(epsilon**2 * delta * rho)", "(epsilon * delta * rho)",
        [PAC + "test_bounds_by_hand"]),
    "a state before the first is the last": (
        "bayesrl.bamdp._greedy", "observation, 0, belief.n_states - 1)", "observation, -1, belief.n_states - 1)",
        [PLANNERS + "test_what_is_no_state_is_refused[boss]"]),
    "BOSS looks nowhere": (
        "bayesrl.bamdp.sampling.boss", 's = state_in("BOSS", belief, observation)', "s = observation",
        [PLANNERS + "test_what_is_no_state_is_refused[boss]"]),
    "what never ends is refused late": (
        "bayesrl.bamdp._greedy", "    if belief.gamma == 1.0:", "    if False:",
        [PLANNERS + "test_neither_a_discount_nor_an_end_is_refused_at_once[psrl]"]),
    "the mean model's ends are those of every belief's models": (
        "bayesrl.bamdp._greedy", "offers(belief, SharesMeanSupport) and belief.same_support:",
        "True:",
        [PLANNERS + "test_models_with_different_ends[psrl]"]),
    "MBIE-EB's largest value is checked late": (
        "bayesrl.bamdp.optimism.mbie_eb", '        best_value("MBIEEB", belief, self.r_max)\n', "",
        [UNVISITED + "test_pairs_that_do_not_fit_are_refused_at_once[mbie-eb-MBIEEB-beta]"]),
    "SmartSampler draws models without number": (
        "bayesrl.bamdp.sampling.smart_sampler", "largest > MOST * epsilon", "False",
        [BOSS + "test_more_models_than_there_is_memory_for_are_refused_at_once"]),
    "a bound is no number": (
        "bayesrl.bamdp.optimism.pac_bounds", "all(map(isfinite, ", "any(map(bool, ",
        [PAC + "test_what_leaves_the_range_of_numbers_is_refused"]),
    "nearly lost ends are not solved": (
        "bayesrl.models.solvers._driver", "<= 4.0 * rounding_error(small, start)",
        "<= 0.0 * rounding_error(small, start)",
        [ENDS + "test_ends_that_are_nearly_lost_in_rounding"]),
    "infinite errors are accepted": (
        "bayesrl.models.solvers._driver", "math.isfinite(bound) and rate * bound", "rate * bound",
        [UNVISITED + "test_a_value_beyond_all_numbers_is_not_solved_for"]),
    "staying is no end where one could leave": (
        "bayesrl.models.solvers._episodic", "if not reached.any():", "if not ended.any():",
        [ENDS + "test_to_stay_for_nothing_is_an_end_where_one_could_leave"]),
}  # fmt: skip


@pytest.mark.parametrize("name", MUTANTS)
def test_mutant_is_caught(name, assert_caught):
    assert_caught(name, *MUTANTS[name])
