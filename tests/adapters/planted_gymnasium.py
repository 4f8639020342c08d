"""Planted bugs of bayesrl.adapters.gymnasium."""

MODULE = "bayesrl.adapters.gymnasium"
PLANTED = {
    "every episode of a Gymnasium world has the same seed": (
        'seed=int(generator("GymWorld", rng).integers(2**31))',
        "seed=0",
        ["tests/test_randomness.py::test_each_episode_of_a_gymnasium_world_has_a_seed_of_its_own"],
    ),
    "an exported world starts its luck anew in every episode": (
        "super().reset(seed=seed)",
        "super().reset(seed=seed or 7)",
        ["tests/test_randomness.py::test_episodes_of_exported_worlds[grid5]"],
    ),
    "Gymnasium counts observations from zero": (
        "Discrete(n + 1, start=-1)",
        "Discrete(n + 1)",
        ["tests/adapters/test_gymnasium.py::test_hidden_states_are_seen_from_minus_one"],
    ),
    "runs share an environment": (
        "        return GymWorld(made, self.gamma)",
        "        return self",
        ["tests/adapters/test_gymnasium.py::test_fresh_environments"],
    ),
    "a state of an earlier episode is accepted": (
        "self._now, self._over = self._now + 1, False",
        "self._now, self._over = 0, False",
        ["tests/adapters/test_gymnasium.py::test_no_state_comes_twice_whatever_episode_it_is_of"],
    ),
}
