"""Planted bugs in filters of a hidden state and in searches on histories; see test_mutants.py."""

import pytest

FILTER, PARTICLES = "tests/hidden/test_pomdp_filter.py::", "tests/hidden/test_pomdp_particles.py::"
RESCUE = "tests/hidden/test_particles_by_hand.py::test_the_evidence_of_a_rescue_is_unbiased"
POMCP, BAPOMCP = "tests/bapomdp/test_pomcp.py::", "tests/bapomdp/test_ba_pomcp.py::"
HIDDEN, SEARCH = "bayesrl.beliefs.hidden.", "bayesrl.kernels.search."
PATHS = FILTER + "test_equals_the_sum_over_hidden_paths"
URNS = BAPOMCP + "test_urns_draw_like_enumerated_hyper_states"
LAW = BAPOMCP + "test_equal_in_law_to_a_naive_transcription"

MUTANTS = {
    # name: (module, old, new, tests)
    "Omega at the old state": (
        HIDDEN + "pomdp_filter", "after[succ[s, a, k]] += b[s] * prob[s, a, k]", "after[s] += b[s] * prob[s, a, k]",
        [PATHS]),
    "the end is no evidence": (
        HIDDEN + "pomdp_filter", "if terminal[y] == ended:", "if True:",
        [PATHS, FILTER + "test_the_end_of_an_episode_is_evidence"]),
    "evidence of the last step only": (
        HIDDEN + "pomdp_filter", "log_probability=self.log_probability + log_p", "log_probability=log_p", [PATHS]),
    "a restart forgets the evidence": (
        HIDDEN + "pomdp_filter", "return unchecked(self, now=self.pomdp.start)", "return POMDPFilter(self.pomdp)",
        [FILTER + "test_restart_forgets_the_state_and_keeps_the_evidence"]),
    "one sign of two that show the same": (
        HIDDEN + "pomdp_filter", "likelihood += sign_prob[y, a, k]", "likelihood = sign_prob[y, a, k]",
        [FILTER + "test_equals_the_sum_over_hidden_paths"]),
    "a log without restarts": (
        HIDDEN + "pomdp_filter", "new = new.restart() if datum.ends_episode else new", "pass",
        [FILTER + "test_restart_forgets_the_state_and_keeps_the_evidence"]),
    "models keep the old start": (
        HIDDEN + "pomdp_filter", "return self.pomdp.starting(self.now)", "return self.pomdp",
        [FILTER + "test_models_start_where_the_belief_is"]),
    "impossible rewards bound the range": (
        "bayesrl.models.pomdp", "            paid = paid[P if self.rewards.ndim == 3 else", "            _ = paid[P if self.rewards.ndim == 3 else",
        [FILTER + "test_rewards_of_possible_steps"]),
    "particles keep their old weights": (
        HIDDEN + "pomdp_particles", "return Drawn(states, old.weights * likelihood)",
        "return Drawn(states, np.where(likelihood > 0, old.weights, 0.0))",
        [PARTICLES + "test_the_error_falls_as_the_root_of_the_particles"]),
    "resampling keeps the weights": (
        HIDDEN + "_weighted_states", "return Sample(states, frozen(np.full(n, 1.0 / n)))",
        "return Sample(states, frozen(old.weights[chosen] / old.weights[chosen].sum()))",
        [PARTICLES + "test_the_error_falls_as_the_root_of_the_particles",
         PARTICLES + "test_worlds_without_a_table"]),
    "rejection accepts everything": (
        HIDDEN + "pomdp_particles", "np.array_equal(seen, o)", "True", [PARTICLES + "test_worlds_without_a_table"]),
    "a rescue replays only the last step": (
        HIDDEN + "pomdp_particles", "            steps.insert(0, step)\n", "            steps = [steps[0] if steps else step]\n",
        [PARTICLES + "test_a_rescue_replays_the_whole_episode"]),
    "a rescue counts the draws of its last part only": (
        HIDDEN + "_weighted_states", "draws + np.array(new, np.int64)", "np.array(new, np.int64)",
        [RESCUE]),
    "a rescue forgets the draws that failed": (
        HIDDEN + "pomdp_particles", "all_drawn = [first]", "all_drawn = [first] if first.fitting else []", [RESCUE]),
    "a rescue keeps the first draw that fits": (
        HIDDEN + "pomdp_particles", "self.rescue and drawn.fitting < 2", "self.rescue and drawn.fitting < 1", [RESCUE]),
    "a rescue divides by the draw of the second": (
        HIDDEN + "_weighted_states", "1.0 / (numbers[1] - 1)", "1.0 / numbers[1]", [RESCUE]),
    "the root is always the likeliest state": (
        SEARCH + "hidden_model", "return model.states[draw_by(model.below, 0, len(model.states), rng)]\n\n\n@implements(step, H",
        "return model.states[0]\n\n\n@implements(step, H",
        [POMCP + "test_steps_follow_the_model", POMCP + "test_root_values_with_an_end_and_rewards_of_all_arguments"]),
    "what was seen at the old state": (
        SEARCH + "hidden_model", "h = model.sign_group[y, a]\n    o = int(model.sign[y, a,",
        "h = model.sign_group[s, a]\n    o = int(model.sign[s, a,", [POMCP + "test_steps_follow_the_model"]),
    "terminal ignored": (
        SEARCH + "hidden_model", "model.terminal[y], 0\n", "False, 0\n", [POMCP + "test_steps_follow_the_model"]),
    "what cannot happen is drawn": (
        SEARCH + "hidden_model", "np.where(so_far < so_far[:, -1:], np.cumsum(prob, axis=1), np.inf)",
        "np.cumsum(prob, axis=1)", [POMCP + "test_what_has_no_probability_is_never_drawn"]),
    "histories without observations": (
        SEARCH + "uct_on_histories", "int(k) * A + a", "a",
        [POMCP + "test_root_values_approach_the_exact_ones", BAPOMCP + "test_root_values_approach_the_exact_ones"]),
    "no discount at the leaf": (
        SEARCH + "uct_on_histories", "R += discount * V0[s]", "R += V0[s]",
        [POMCP + "test_one_simulation_by_hand"]),
    "the tree of another observation is reused": (
        "bayesrl.bapomdp._history_search", "subtree(memory.tree, last.next_observation, last.action)",
        "subtree(memory.tree, last.next_observation, 1)", [POMCP + "test_reuse_keeps_what_happened"]),
    "the tree is reused after the end": (
        "bayesrl.bapomdp._history_search", "last is None or last.ends_episode", "last is None",
        [POMCP + "test_reuse_keeps_what_happened"]),
    "the range of returns for that of a reward": (
        "bayesrl.bapomdp._history_search", "c = high - low if", "c = (high - low) / (1.0 - belief.gamma) if",
        [POMCP + "test_the_usual_constant_is_the_range_of_one_reward"]),
    "rollouts are uniform all the same": (
        "bayesrl.bapomdp._history_search", "1.0 if preferred is None else 0.0", "1.0",
        [POMCP + "test_one_simulation_by_hand"]),
    "nothing is learnt within a simulation": (
        SEARCH + "hyper_urn", "if row.total < model.bound:", "if False:",
        [URNS, BAPOMCP + "test_a_fixed_mean_model_is_told_apart"]),
    "what a simulation learnt is not forgotten": (
        SEARCH + "hyper_urn", "    model.now[1] += 1\n", "    model.now[1] = 1\n", [URNS]),
    "the hyper-state's own counts are left out": (
        SEARCH + "hyper_urn", "        seen += model.times[high]\n", "        seen += 0\n", [URNS]),
    "the first hyper-state is always drawn": (
        SEARCH + "hyper_urn", "model.now[0] = draw_by(model.below, 0, model.below.shape[1], rng)", "model.now[0] = 0",
        [URNS, LAW]),
    "the first outcome is counted, whatever came": (
        SEARCH + "hyper_urn", "model.balls[row.first + n] = index(k)", "model.balls[row.first + n] = index(0)", [URNS]),
    "the bound is not kept": (
        SEARCH + "hyper_urn", "if row.total < model.bound:", "if True:", [BAPOMCP + "test_bounded_rows_stop_counting"]),
    "a filter under BA-POMCP": (
        "bayesrl.bapomdp.ba_pomcp", "class BAPOMCPNeeds(SimulatesHidden, ListsHyperStates, Protocol)",
        "class BAPOMCPNeeds(SimulatesHidden, Protocol)", [BAPOMCP + "test_a_filter_is_refused"]),
}  # fmt: skip


@pytest.mark.parametrize("name", MUTANTS)
def test_mutant_is_caught(name, assert_caught):
    assert_caught(name, *MUTANTS[name])
