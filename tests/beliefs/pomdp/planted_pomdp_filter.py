"""Planted bugs of bayesrl.beliefs.pomdp.pomdp_filter."""

MODULE = "bayesrl.beliefs.pomdp.pomdp_filter"
PLANTED = {
    "Omega at the old state": (
        "after[succ[s, a, k]] += b[s] * prob[s, a, k]",
        "after[s] += b[s] * prob[s, a, k]",
        ["tests/beliefs/pomdp/test_pomdp_filter.py::test_equals_the_sum_over_hidden_paths"],
    ),
    "the end is no evidence": (
        "if terminal[y] == ended:",
        "if True:",
        [
            "tests/beliefs/pomdp/test_pomdp_filter.py::test_equals_the_sum_over_hidden_paths",
            "tests/beliefs/pomdp/test_pomdp_filter.py::test_the_end_of_an_episode_is_evidence",
        ],
    ),
    "evidence of the last step only": (
        "log_probability=self.log_probability + log_p",
        "log_probability=log_p",
        ["tests/beliefs/pomdp/test_pomdp_filter.py::test_equals_the_sum_over_hidden_paths"],
    ),
    "a restart forgets the evidence": (
        "return unchecked(self, now=self.pomdp.start)",
        "return POMDPFilter(self.pomdp)",
        ["tests/beliefs/pomdp/test_pomdp_filter.py::test_restart_forgets_the_state_and_keeps_the_evidence"],
    ),
    "one sign of two that show the same": (
        "likelihood += observation_prob[y, a, k]",
        "likelihood = observation_prob[y, a, k]",
        ["tests/beliefs/pomdp/test_pomdp_filter.py::test_equals_the_sum_over_hidden_paths"],
    ),
    "a log without restarts": (
        "new = new.restart() if datum.ends_episode else new",
        "pass",
        ["tests/beliefs/pomdp/test_pomdp_filter.py::test_restart_forgets_the_state_and_keeps_the_evidence"],
    ),
    "models keep the old start": (
        "return self.pomdp.starting(self.now)",
        "return self.pomdp",
        ["tests/beliefs/pomdp/test_pomdp_filter.py::test_models_start_where_the_belief_is"],
    ),
    "rollouts are not told what to prefer": (
        "preferred_of(problem)",
        "None",
        ["tests/lab/test_priors.py::test_the_filter_knows_what_rollouts_prefer"],
    ),
    "the prior forgets what is legal": (
        "legal_of(problem)",
        "None",
        ["tests/worlds/pomdps/test_rock_sample.py::test_searches_have_the_same_values"],
    ),
}
