"""Planted bugs in oracles, in the agents that ask them, and in beliefs over finitely many POMDPs; see test_mutants.py."""

import pytest

ANSWERS, MEDUSA, ASKING, SAMPLED = (
    f"tests/bapomdp/test_{name}.py::" for name in ("answers", "medusa", "oracle_agents", "sampled_pomdps")
)
FINITE, ORACLES = "tests/hidden/test_finite_pomdps.py::", "tests/worlds/test_oracles.py::"
PATHS = FINITE + "test_equals_the_sum_over_models_and_hidden_paths"
REPLAY = ASKING + "test_new_models_are_weighted_by_past_answers"
HOME, WORLDS, BELIEF = "bayesrl.bapomdp.", "bayesrl.worlds.oracles.", "bayesrl.beliefs.hidden.finite_pomdps"

MUTANTS = {
    # name: (module, old, new, tests)
    "one best action for all models": (
        HOME + "_answers", "values - values.max(axis=1, keepdims=True)", "values - values[:, (w @ values).argmax(), None]",
        [ANSWERS + "test_bayes_risk_by_hand"]),
    "risks are not weighted": (
        HOME + "_answers", "w @ (values - values.max(axis=1, keepdims=True))",
        "(values - values.max(axis=1, keepdims=True)).mean(axis=0)", [ANSWERS + "test_bayes_risk_by_hand"]),
    "the likelihood of an answer is reversed": (
        HOME + "_answers", "np.where(best == action, 1.0 - error, error / max(n_actions - 1, 1))",
        "np.where(best == action, error, (1.0 - error) / max(n_actions - 1, 1))", [ANSWERS + "test_after_answer_by_hand"]),
    "an erring oracle names all actions": (
        HOME + "_answers", "error / max(n_actions - 1, 1)", "error / n_actions", [ANSWERS + "test_after_answer_by_hand"]),
    "a no is taken for a yes": (
        HOME + "_answers", "np.where((best == action) == yes, 1.0 - error, error)",
        "np.where(best == action, 1.0 - error, error)", [ANSWERS + "test_after_confirmation_by_hand"]),
    "the price does not widen the range": (
        HOME + "_answers", "least = min(low, -number(owner, \"cost\", cost, 0.0))",
        "least = min(low, number(owner, \"cost\", cost, 0.0))", [ANSWERS + "test_risk_samples_by_hand"]),
    "the number of models is rounded down": (
        HOME + "_answers", "math.ceil(models)", "math.floor(models)", [ANSWERS + "test_risk_samples_by_hand"]),
    "the evidence of models is not used": (
        BELIEF, "joint = self.log_joint + log_p", "joint = self.log_joint + 0.0 * np.maximum(log_p, -1e300)", [PATHS]),
    "restart forgets the weights": (
        BELIEF, "return unchecked(self, now=self._starts)",
        "return unchecked(self, now=self._starts, log_joint=np.log(np.asarray(self.weights)))", [PATHS]),
    "the end of an episode is no evidence": (
        BELIEF, "filtered_models(self.now, a, o, ended, self.tables)",
        "filtered_models(self.now, a, o, False, self.tables)", [PATHS]),
    "model and state are drawn independently": (
        BELIEF, "point[rng.choice(self.n_states, p=self.now[i])]", "point[rng.choice(self.n_states, p=self.states())]",
        [FINITE + "test_mean_and_drawn_models"]),
    "the prior weights are not used": (
        "bayesrl.beliefs._one_of_many", "set_(self, \"log_joint\", frozen(np.log(w)))", "set_(self, \"log_joint\", frozen(np.zeros(N) - np.log(N)))",
        [PATHS]),
    "the state before the step is told twice": (
        WORLDS + "asking_for_state", "said = (state, after) if ask", "said = (state, state) if ask",
        [ORACLES + "test_state_oracle"]),
    "a question about the state costs nothing": (
        WORLDS + "asking_for_state", "reward - self.cost * ask", "reward", [ORACLES + "test_state_oracle"]),
    "a question about the action costs nothing": (
        WORLDS + "_oracle", "(NOTHING, answer(now)), -self.cost, False)", "(NOTHING, answer(now)), 0.0, False)",
        [ORACLES + "test_action_oracle"]),
    "the oracle does not filter": (
        WORLDS + "_oracle", "Watched(after, tuple(belief.tolist()))", "Watched(after, now.belief)",
        [ORACLES + "test_action_oracle"]),
    "the oracle sees the state": (
        WORLDS + "_oracle", "Watched(after, tuple(belief.tolist()))",
        "Watched(after, tuple(np.eye(len(belief))[after].tolist()))", [ORACLES + "test_action_oracle"]),
    "a confirmation about another action": (
        WORLDS + "asking_for_confirmation", "asked = a - self.inside.n_actions", "asked = a - self.inside.n_actions - 1",
        [ORACLES + "test_confirming_oracle"]),
    "weights are dropped at a renewal": (
        HOME + "medusa", "log_drawn[i] = log_now[i] = mind.counts.log_density(model)",
        "log_drawn = log_now.copy()", [MEDUSA + "test_weights_are_kept_at_a_renewal"]),
    "a new model is weighted by old answers": (
        HOME + "medusa", "log_drawn[i] = log_now[i] = mind.counts.log_density(model)",
        "log_drawn[i], log_now[i] = self.prior.log_density(model), mind.counts.log_density(model)",
        [MEDUSA + "test_weights_are_kept_at_a_renewal"]),
    "the best model is renewed": (
        HOME + "medusa", "i = first_best(-mind.weights())", "i = first_best(mind.weights())",
        [MEDUSA + "test_weights_are_kept_at_a_renewal"]),
    "a renewed model comes from the prior": (
        HOME + "medusa", "model = mind.counts.sample_pomdp(rng)", "model = self.prior.sample_pomdp(rng)",
        [MEDUSA + "test_a_renewed_model_comes_from_the_present_counts"]),
    "the likelihood of answers is reversed": (
        HOME + "medusa", "self.log_now - self.log_drawn",
        "self.log_drawn - self.log_now", [MEDUSA + "test_weights_are_likelihoods_to_the_power_rate"]),
    "the rate is forgotten": (
        HOME + "medusa", "mind.counts.learned(s, a, y, o, self.rate)", "mind.counts.learned(s, a, y, o)",
        [MEDUSA + "test_weights_are_likelihoods_to_the_power_rate"]),
    "no certainty after an answer": (
        HOME + "medusa", "belief=mind.belief.certain(y),",
        "belief=mind.belief.update(transition._replace(action=a, next_observation=o)),",
        [MEDUSA + "test_an_answer_makes_every_belief_certain"]),
    "certainty about the state before": (
        HOME + "medusa", "belief=mind.belief.certain(y),", "belief=mind.belief.certain(s),",
        [MEDUSA + "test_an_answer_makes_every_belief_certain"]),
    "models are drawn evenly": (
        HOME + "medusa", "q[rng.choice(len(w), p=w)]", "q[rng.choice(len(w))]",
        [MEDUSA + "test_models_are_drawn_by_their_weight"]),
    "observations count twice after a renewal": (
        HOME + "_asking", "Drawn(belief.reweighted(special.softmax(log_answers)), solutions)",
        "Drawn(belief.reweighted(special.softmax(belief.log_joint + log_answers)), solutions)", [REPLAY]),
    "past answers are forgotten at a renewal": (
        HOME + "_asking", "Drawn(belief.reweighted(special.softmax(log_answers)), solutions)",
        "Drawn(belief.reweighted(special.softmax(0.0 * log_answers)), solutions)", [REPLAY]),
    "the past is not replayed": (
        HOME + "_asking", "            belief = belief.update(event)\n", "", [REPLAY]),
    "episodes of the past are not told apart": (
        HOME + "_asking", "            belief = belief.restart() if event.ends_episode else belief\n", "", [REPLAY]),
    "models are drawn from the prior": (
        HOME + "_asking", "mind.learned.sample_pomdp(rng).starting(start)",
        "agent.prior.sample_pomdp(rng).starting(start)", [ASKING + "test_new_models_come_from_what_was_learned"]),
    "the answer is not done": (
        HOME + "action_oracle", "Answer(NOTHING, said), said)", "Answer(NOTHING, said), NOTHING)",
        [ASKING + "test_the_answer_is_done"]),
    "the largest loss is chosen": (
        HOME + "bayes_risk", "a = first_best(left, sizes(q))", "a = first_best(-risk)",
        [ASKING + "test_the_choice_of_least_risk"]),
    "a refused action is asked about again": (
        HOME + "bayes_risk", "a = first_best(left, sizes(q))", "a = first_best(risk, sizes(q))",
        [ASKING + "test_after_a_no_the_next_is_asked_about"]),
    "the last action is asked about too": (
        HOME + "bayes_risk", "left[0] if len(left) == 1 else NOTHING", "NOTHING",
        [ASKING + "test_after_a_no_the_next_is_asked_about"]),
    "sampled models are not weighted": (
        HOME + "sampled_pomdps", "f.log_evidence() - before for", "0.0 for", [SAMPLED + "test_models_are_kept_weighted_and_renewed"]),
    "what was seen before a draw counts again": (
        HOME + "sampled_pomdps", "f.log_evidence() - before for", "f.log_evidence() for",
        [SAMPLED + "test_equal_to_a_transcription"]),
}  # fmt: skip


@pytest.mark.parametrize("name", MUTANTS)
def test_mutant_is_caught(name, assert_caught):
    assert_caught(name, *MUTANTS[name])
