"""Planted bugs of bayesrl.beliefs.arms.money.priced."""

MODULE = "bayesrl.beliefs.arms.money.priced"
TESTS = "tests/beliefs/arms/money/test_priced.py"
INSIDE = [f"{TESTS}::test_answers_are_those_of_the_belief_inside_in_units_of_money"]
PLANTED = {
    "a variance in single prices": ("self.prices**2 * self._asked", "self.prices * self._asked", INSIDE),
    "an average without prices": ('self.prices * self._asked("average")', 'self._asked("average")', INSIDE),
    "quantiles without prices": ('self.prices * self._asked("quantile")', 'self._asked("quantile")', INSIDE),
    "half the smallest price as deviation": (
        "0.5 * float(self.prices.max())",
        "0.5 * float(self.prices.min())",
        INSIDE,
    ),
    "indices not in money": (
        "ArmStates(kind, state, self.prices * base, self.prices * scale)",
        "ArmStates(kind, state, base, scale)",
        [f"{TESTS}::test_gittins_index_is_calibrated_in_money"],
    ),
    "the best arm of the coins": (
        "return self.belief.best_arm_at(self.prices)",
        "return self.belief.best_arm_at(0.0 * self.prices + 1.0)",
        [f"{TESTS}::test_equals_the_problem_with_listed_outcomes"],
    ),
    "exact play knows the best coin only": (
        ".posteriors_at(self.prices, seen)",
        ".posteriors_at(0.0 * self.prices + 1.0, seen)",
        [f"{TESTS}::test_equals_the_problem_with_listed_outcomes"],
    ),
    "the price of a zero": (
        "np.stack([np.zeros(self.n_actions), self.prices], axis=-1)",
        "np.stack([self.prices, np.zeros(self.n_actions)], axis=-1)",
        [f"{TESTS}::test_exact_play_of_betas_equals_enumerated_histories"],
    ),
    "any reward above zero is a purchase": (
        "if abs(r - price) > RELATIVE * price:",
        "if r < 0.0:",
        [f"{TESTS}::test_other_rewards_are_refused"],
    ),
    "in a log any reward is a purchase": (
        "bad = ~bought & (r != 0.0)",
        "bad = ~bought & (r < 0.0)",
        [f"{TESTS}::test_other_rewards_are_refused"],
    ),
    "the price of the first arm": (
        "self.prices.item(a)",
        "self.prices.item(0)",
        [f"{TESTS}::test_answers_are_those_of_the_belief_inside_in_units_of_money"],
    ),
    "information of drawn amounts": (
        "bernoulli_information, p, given / self.prices, mean / self.prices",
        "bernoulli_information, p, given / self.prices.max(), mean / self.prices.max()",
        [f"{TESTS}::test_information_of_a_play_by_draws_is_that_of_the_outcome"],
    ),
    "any belief has prices": (
        "        if not self.belief.pays_ones:",
        "        if False:",
        [f"{TESTS}::test_only_beliefs_about_zeros_and_ones_have_prices"],
    ),
    "a set of purchases is one": (
        "bought.sum(axis=-1)  # in",
        "bought.max(axis=-1)  # in",
        [f"{TESTS}::test_a_set_is_handed_on_as_zeros_and_ones"],
    ),
}
