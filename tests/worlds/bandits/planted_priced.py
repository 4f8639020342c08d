"""Planted bugs of bayesrl.worlds.bandits.priced."""

MODULE = "bayesrl.worlds.bandits.priced"
TESTS = "tests/worlds/bandits/test_priced.py"
PLANTED = {
    "the dearest set": (
        "best = np.sort(self.means, axis=-1)[..., -self.suggestions :].sum(axis=-1)",
        "best = np.sort(self.prices, axis=-1)[..., -self.suggestions :].sum(axis=-1)",
        [f"{TESTS}::test_means_and_gaps"],
    ),
    "means of one that are kept for many": (
        'depends_on_data=("means", "coins", "_seen")',
        'depends_on_data=("coins", "_seen")',
        [f"{TESTS}::test_means_and_gaps"],
    ),
    "contexts that are equally frequent": (
        "below = np.cumsum(self.frequency)",
        "below = np.cumsum(0.0 * self.frequency + 1.0)",
        [f"{TESTS}::test_contexts_come_with_their_frequency"],
    ),
    "the price of the first arm": (
        "price = prices[as_array(action)]",
        "price = prices[0 * as_array(action)]",
        [f"{TESTS}::test_profits_are_prices_of_the_same_purchases"],
    ),
    "the sum in full-bandit feedback is of purchases": (
        "paid = self._seen.step(state, action, rng).observation * self.prices[as_array(action)]",
        "paid = self._seen.step(state, action, rng).observation",
        [f"{TESTS}::test_profits_of_several_add_up"],
    ),
}
