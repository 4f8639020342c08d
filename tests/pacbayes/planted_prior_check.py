"""Planted bugs of bayesrl.pacbayes.prior_check."""

MODULE = "bayesrl.pacbayes.prior_check"
PLANTED = {
    "all visits count": (
        "if seen[s, a] < n:",
        "if True:",
        ["tests/pacbayes/test_select.py::test_only_first_visits_count_and_policies_with_unseen_pairs_pay"],
    ),
    "policies that cannot be estimated are free": (
        "kl=best.kl + price if best else 0.0",
        "kl=best.kl if best else 0.0",
        ["tests/pacbayes/test_select.py::test_only_first_visits_count_and_policies_with_unseen_pairs_pay"],
    ),
    "the choice of n is free": (
        "sure = delta / n / (n + 1)",
        "sure = delta",
        ["tests/pacbayes/test_select.py::test_guarantees_by_hand"],
    ),
    "a policy made from the data is free": (
        "(1.0 - DOUBT) * drawn + DOUBT *",
        "drawn + 0.0 * drawn + 1.0 *",
        ["tests/pacbayes/test_select.py::test_guarantees_by_hand"],
    ),
    "rewards of next states count as known": (
        "belief.rewards_known and pairs_pay(mdp)",
        "belief.rewards_known",
        ["tests/pacbayes/test_select.py::test_rewards_of_next_states_and_ends"],
    ),
}
