"""Planted bugs of bayesrl.beliefs.rewards._over_rewards."""

MODULE = "bayesrl.beliefs.rewards._over_rewards"
PLANTED = {
    "an update keeps the draws of the old posterior": (
        "demonstrations=known, **self._no_draws(self.n_weights))",
        "demonstrations=known)",
        ["tests/beliefs/rewards/test_birl.py::test_the_chain_goes_on"],
    ),
}
