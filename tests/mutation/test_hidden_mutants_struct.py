"""Planted bugs in structured priors and in what acts on them; see test_mutants.py."""

import pytest

TSMDP = "tests/bamdp/test_tsmdp.py::"
CRP = "tests/beliefs/test_crp_dynamics.py::"
DBN = "tests/beliefs/test_factored_dbn.py::"
STRUCTURED = "bayesrl.beliefs.structured."

MUTANTS = {
    # name: (module, old, new, tests)
    "a model at every step": (
        "bayesrl.bamdp.sampling.tsmdp", "if memory is None or here == self.reference:", "if True:",
        [TSMDP + "test_expected_reward_equals_enumeration[0]"]),
    "one model for ever": (
        "bayesrl.bamdp.sampling.tsmdp", "if memory is None or here == self.reference:", "if memory is None:",
        [TSMDP + "test_expected_reward_equals_enumeration[1]"]),
    "an epoch that begins a step late": (
        "bayesrl.bamdp.sampling.tsmdp", "here == self.reference:",
        "(last is not None and last.state == self.reference):", [TSMDP + "test_one_policy_for_each_epoch"]),
    "relative values without the bias": (
        "bayesrl.bamdp.sampling.tsmdp", "q = model.mean_reward + (", "q = model.mean_reward + 0.0 * (",
        [TSMDP + "test_values_are_those_of_the_drawn_model"]),
    "a table that counts its newest customer twice": (
        STRUCTURED + "_partitions", "                prior = size[j]", "                prior = size[j] + (size[j] > 0.0)",
        [CRP + "test_geweke"]),
    "a state that stays at its table while it chooses": (
        STRUCTURED + "_partitions", "            counts[z[s]] -= seen[s]\n", "",
        [CRP + "test_sampler_follows_the_enumeration"]),
    "a new table for nothing": (
        STRUCTURED + "_partitions", "prior, new_one = crp, True", "prior, new_one = 1.0, True", [CRP + "test_geweke"]),
    "factorial of the size, not of one less": (
        STRUCTURED + "_partitions", "special.gammaln(member[1:].sum(axis=1))",
        "special.gammaln(member[1:].sum(axis=1) + 1.0)", [CRP + "test_posterior_equals_enumeration[1-2]"]),
    "evidence without the prior of the clustering": (
        STRUCTURED + "_partitions", "total + lgamma(crp) - lgamma(crp + S)", "total",
        [CRP + "test_posterior_equals_enumeration[1-2]"]),
    "clusters that share all actions": (
        STRUCTURED + "_partition_urn", "if model.path[i, 1] == a and z", "if z",
        [CRP + "test_bamcp_finds_the_values_of_exact_expectimax"]),
    "a simulation that learns nothing": (
        STRUCTURED + "_partition_urn", "            row[model.path[i, 2]] += 1.0", "            pass",
        [CRP + "test_simulated_steps_follow_the_predictive"]),
    "a new clustering at every simulated step": (
        STRUCTURED + "_partition_urn", "if now[DRAWN] < 0:", "if True:",
        [CRP + "test_simulated_steps_follow_the_predictive"]),
    "replayed outcomes that weigh nothing": (
        STRUCTURED + "_partition_urn", "            p *= _chance(model, c, s, a, k)", "            p *= 1.0",
        [CRP + "test_simulated_steps_follow_the_predictive"]),
    "rows of states, not of clusters": (
        STRUCTURED + "crp_dynamics", "rows[z].reshape(-1, n.shape[2])",
        "dirichlet_rows((n[z]).reshape(-1, n.shape[2]), rng)", [CRP + "test_states_of_a_cluster_share_their_row"]),
    "a missing Hastings ratio": (
        STRUCTURED + "_families", "log_ratio += np.log(legal) - np.log(legal_after)", "log_ratio += 0.0",
        [DBN + "test_geweke"]),
    "a Hastings ratio upside down": (
        STRUCTURED + "_families", "log_ratio += np.log(legal) - np.log(legal_after)",
        "log_ratio += np.log(legal_after) - np.log(legal)", [DBN + "test_geweke"]),
    "a recorded proposal": (
        STRUCTURED + "_families", "            mask, score = new, proposed\n    return mask",
        "            mask, score = new, proposed\n    return new", [DBN + "test_geweke"]),
    "the score of what was refused": (
        STRUCTURED + "_families", "        if np.log(rng.random()) < log_ratio:\n            mask, score = new, proposed",
        "        score = proposed\n        if np.log(rng.random()) < log_ratio:\n            mask = new",
        [DBN + "test_sampler_follows_the_enumeration[None]"]),
    "an edge that costs nothing": (
        STRUCTURED + "_families", "log_ratio = proposed - score + more * np.log(edge)", "log_ratio = proposed - score",
        [DBN + "test_geweke"]),
    "one urn for all settings": (
        STRUCTURED + "_families", "            n[:], total = 0.0, 0.0", "            pass",
        [DBN + "test_posterior_equals_enumeration[each]"]),
    "BDeu without the settings": (
        STRUCTURED + "_families", "            cells *= sizes[j]", "            cells *= 1.0",
        [DBN + "test_posterior_equals_enumeration[BDeu]"]),
    "evidence without the prior of the graph": (
        STRUCTURED + "_families", "return log(sum(comb(V, n) * edge**n for n in range(most + 1)))", "return 0.0",
        [DBN + "test_posterior_equals_enumeration[each]"]),
    "parents drawn at every simulated step": (
        STRUCTURED + "_graph_urn", "        if model.drawn[a, i] < 0:", "        if True:",
        [DBN + "test_simulated_steps_follow_the_predictive"]),
}  # fmt: skip


@pytest.mark.parametrize("name", MUTANTS)
def test_planted_bug_is_caught(name, assert_caught):
    assert_caught(name, *MUTANTS[name])
