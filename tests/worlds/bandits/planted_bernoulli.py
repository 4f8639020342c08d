"""Planted bugs of bayesrl.worlds.bandits.bernoulli."""

MODULE = "bayesrl.worlds.bandits.bernoulli"
PLANTED = {
    "a bandit has a stream of its own": (
        "return PAID if rng.random() < p",
        "return PAID if np.random.default_rng(0).random() < p",
        ["tests/test_randomness.py::test_episodes_differ_where_the_world_is_random[online-shop]"],
    ),
}
