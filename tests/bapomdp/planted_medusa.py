"""Planted bugs of bayesrl.bapomdp.medusa."""

MODULE = "bayesrl.bapomdp.medusa"
PLANTED = {
    "a new model is weighted by old answers": (
        "log_drawn[i] = log_now[i] = mind.posterior.log_density(model)",
        "log_drawn[i], log_now[i] = self.model_prior.log_density(model), mind.posterior.log_density(model)",
        ["tests/bapomdp/test_medusa.py::test_weights_are_kept_at_a_renewal"],
    ),
    "the best model is renewed": (
        "i = first_best(-mind.weights())",
        "i = first_best(mind.weights())",
        ["tests/bapomdp/test_medusa.py::test_weights_are_kept_at_a_renewal"],
    ),
    "a renewed model comes from the prior": (
        "model = mind.posterior.sample_pomdp(rng)",
        "model = self.model_prior.sample_pomdp(rng)",
        ["tests/bapomdp/test_medusa.py::test_a_renewed_model_comes_from_the_present_counts"],
    ),
    "the likelihood of answers is reversed": (
        "self.log_now - self.log_drawn",
        "self.log_drawn - self.log_now",
        ["tests/bapomdp/test_medusa.py::test_weights_are_likelihoods_to_the_power_rate"],
    ),
    "the rate is forgotten": (
        "mind.posterior.learned(s, a, y, o, self.rate)",
        "mind.posterior.learned(s, a, y, o)",
        ["tests/bapomdp/test_medusa.py::test_weights_are_likelihoods_to_the_power_rate"],
    ),
    "no certainty after an answer": (
        "belief=mind.belief.certain(y),",
        "belief=mind.belief.update(transition._replace(action=a, next_observation=o)),",
        ["tests/bapomdp/test_medusa.py::test_an_answer_makes_every_belief_certain"],
    ),
    "certainty about the state before": (
        "belief=mind.belief.certain(y),",
        "belief=mind.belief.certain(s),",
        ["tests/bapomdp/test_medusa.py::test_an_answer_makes_every_belief_certain"],
    ),
    "models are drawn evenly": (
        "q[rng.choice(len(w), p=w)]",
        "q[rng.choice(len(w))]",
        ["tests/bapomdp/test_medusa.py::test_models_are_drawn_by_their_weight"],
    ),
}
