"""Planted bugs of bayesrl.worlds.hidden."""

MODULE = "bayesrl.worlds.hidden"
PLANTED = {
    "what is seen depends on the old state": (
        "self.pomdp.observation_prob[observed.group[y, a]]",
        "self.pomdp.observation_prob[observed.group[s, a]]",
        ["tests/worlds/pomdps/test_pomdp_worlds.py::test_hidden_world_laws"],
    ),
    "signs of the old state": (
        "observed.observation[y, a, possible]",
        "observed.observation[s, a, possible]",
        ["tests/worlds/pomdps/test_pomdp_worlds.py::test_hidden_world_laws"],
    ),
    "the start is uniform": (
        ("states = np.flatnonzero(self.pomdp.start)\n        return cumulative(self.pomdp.start[states])"),
        ("states = np.arange(self.n_states)\n        return cumulative(np.full(len(states), 1 / len(states)))"),
        ["tests/worlds/pomdps/test_pomdp_worlds.py::test_hidden_world_laws"],
    ),
    "the end is that of the old state": (
        "ends = self.pomdp.observed, bool(self.pomdp.terminal[y])",
        "ends = self.pomdp.observed, bool(self.pomdp.terminal[s])",
        ["tests/worlds/pomdps/test_pomdp_worlds.py::test_hidden_world_laws"],
    ),
    "the mean reward is paid": (
        "WorldStep(y, o, self.pomdp.reward(s, a, y, o), ends)",
        "WorldStep(y, o, float(self.pomdp.mean_reward[s, a]), ends)",
        ["tests/worlds/pomdps/test_pomdp_worlds.py::test_a_reward_that_depends_on_what_is_seen"],
    ),
    "one random number for both draws": (
        (
            "            shown, steps = after[bisect_right(row, rng.random())]\n"
            "            return steps[bisect_right(shown, rng.random())]"
        ),
        (
            "            u = rng.random()\n"
            "            shown, steps = after[bisect_right(row, u)]\n"
            "            return steps[bisect_right(shown, u)]"
        ),
        ["tests/worlds/pomdps/test_pomdp_worlds.py::test_hidden_world_laws"],
    ),
    "something is seen at a reset": (
        "states[bisect_right(row, rng.random())]), NOTHING",
        "states[bisect_right(row, rng.random())]), 0",
        ["tests/worlds/pomdps/test_pomdp_worlds.py::test_hidden_world_laws"],
    ),
    "what is known is counted": (
        "known = (None if counts is None else ~counts.any(axis=1) for counts in (phi, psi))",
        "known = (None if counts is None else ~counts.any(axis=1) | True for counts in (phi, psi))",
        ["tests/worlds/pomdps/test_pomdp_worlds.py::test_counts_are_of_what_is_unknown"],
    ),
    "the discount of a file cannot be changed": (
        ("        if gamma is not None:\n            pomdp = replace"),
        ("        if gamma is None:\n            pomdp = replace"),
        ["tests/cli/test_hidden.py::test_a_file_is_a_world"],
    ),
}
