"""Planted bugs of bayesrl.models.pomdp."""

MODULE = "bayesrl.models.pomdp"
PLANTED = {
    "impossible rewards bound the range": (
        "            paid = paid[P if self.rewards.ndim == 3 else",
        "            _ = paid[P if self.rewards.ndim == 3 else",
        ["tests/beliefs/pomdp/test_pomdp_filter.py::test_rewards_of_possible_steps"],
    ),
    "penalties of illegal actions bound rewards": (
        "np.nonzero(legal & ~self.terminal[:, None])",
        "np.nonzero(legal | ~self.terminal[:, None])",
        ["tests/worlds/pomdps/test_rock_sample.py::test_searches_have_the_same_values"],
    ),
}
