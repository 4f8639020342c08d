"""Planted bugs of bayesrl.inverse._over_rewards."""

MODULE = "bayesrl.inverse._over_rewards"
PLANTED = {
    "an update keeps the draws of the old posterior": (
        "demonstrations=known, **self._no_draws(self.n_weights))",
        "demonstrations=known)",
        ["tests/inverse/test_birl.py::test_the_chain_goes_on"],
    ),
}
