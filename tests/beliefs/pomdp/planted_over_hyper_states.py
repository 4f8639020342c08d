"""Planted bugs of bayesrl.beliefs.pomdp.over_hyper_states."""

MODULE = "bayesrl.beliefs.pomdp.over_hyper_states"
PLANTED = {
    "a restart forgets the counts": (
        "hyper=all_frozen(again(self.rows, self.hyper))",
        "hyper=nothing_seen()",
        ["tests/beliefs/pomdp/test_bapomdp_beliefs.py::test_equals_the_sum_over_hidden_paths"],
    ),
    "a state and a model are drawn apart": (
        "return self.model_prior.drawn(*self.counts_of(i), rng, point)",
        "return self.model_prior.drawn(*self.counts_of(pick(self.hyper.weight, rng)), rng, point)",
        ["tests/beliefs/pomdp/test_bapomdp_beliefs.py::test_a_model_is_drawn_with_its_state"],
    ),
}
