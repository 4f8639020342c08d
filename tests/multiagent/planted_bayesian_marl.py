"""Planted bugs of bayesrl.multiagent.bayesian_marl."""

MODULE = "bayesrl.multiagent.bayesian_marl"
PLANTED = {
    "greedy sees the value of information": (
        "mind.greedy_q(s) if self.choose",
        "mind.lookahead_q(s, 2, self.leaf) if self.choose",
        ["tests/multiagent/test_bayesian_marl.py::test_known_payoffs_make_the_best_response_optimal"],
    ),
}
