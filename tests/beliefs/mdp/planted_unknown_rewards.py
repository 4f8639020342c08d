"""Planted bugs of bayesrl.beliefs.mdp.unknown_rewards."""

MODULE = "bayesrl.beliefs.mdp.unknown_rewards"
PLANTED = {
    "VBRB forgets that rewards are unknown": (
        "row_reward_variance(model, variance) + own",
        "row_reward_variance(model, variance) + 0.0 * own",
        ["tests/bamdp/optimism/test_optimism.py::test_vbrb_reward_variance_by_monte_carlo[pairs]"],
    ),
    "BOLT imagines no rewards": (
        "+ extra * best)",
        "+ 0.0 * extra * best)",
        ["tests/bamdp/optimism/test_optimism.py::test_bolt_equals_the_listed_extended_mdp[5.0-unknown]"],
    ),
    "a known row is known, whatever it pays": (
        "np.zeros(self.outcomes.group.shape, np.bool_)",
        "self.transitions.certain_pairs()",
        ["tests/bamdp/optimism/test_unvisited.py::test_unknown_rewards_are_explored_where_transitions_are_known[rmax]"],
    ),
}
