"""Planted bugs of bayesrl.bapomdp._asking."""

MODULE = "bayesrl.bapomdp._asking"
PLANTED = {
    "observations count twice after a renewal": (
        "Drawn(belief.reweighted(special.softmax(log_answers)), solutions)",
        "Drawn(belief.reweighted(special.softmax(belief.log_joint + log_answers)), solutions)",
        ["tests/bapomdp/test_oracle_agents.py::test_new_models_are_weighted_by_past_answers"],
    ),
    "past answers are forgotten at a renewal": (
        "Drawn(belief.reweighted(special.softmax(log_answers)), solutions)",
        "Drawn(belief.reweighted(special.softmax(0.0 * log_answers)), solutions)",
        ["tests/bapomdp/test_oracle_agents.py::test_new_models_are_weighted_by_past_answers"],
    ),
    "the past is not replayed": (
        "            belief = belief.update(event)\n",
        "",
        ["tests/bapomdp/test_oracle_agents.py::test_new_models_are_weighted_by_past_answers"],
    ),
    "episodes of the past are not told apart": (
        "            belief = belief.restart() if event.ends_episode else belief\n",
        "",
        ["tests/bapomdp/test_oracle_agents.py::test_new_models_are_weighted_by_past_answers"],
    ),
    "models are drawn from the prior": (
        "mind.learned.sample_pomdp(rng).starting(start)",
        "agent.prior.sample_pomdp(rng).starting(start)",
        ["tests/bapomdp/test_oracle_agents.py::test_new_models_come_from_what_was_learned"],
    ),
    "models grow no older in the last step of an episode": (
        "drawn.age + 1",
        "drawn.age + (not datum.ends_episode)",
        ["tests/test_ends.py::test_what_an_end_means_to_an_agent[action-oracle-1]"],
    ),
}
