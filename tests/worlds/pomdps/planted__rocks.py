"""Planted bugs of bayesrl.worlds.pomdps._rocks."""

MODULE = "bayesrl.worlds.pomdps._rocks"
PLANTED = {
    "a check that is right is wrong": (
        "bad if u < model.right",
        "bad if u > model.right",
        ["tests/worlds/pomdps/test_rock_sample.py::test_steps_are_those_of_the_table"],
    ),
    "a sampled rock stays good": (
        "s - (good << i)",
        "s",
        ["tests/worlds/pomdps/test_rock_sample.py::test_steps_are_those_of_the_table"],
    ),
    "sampling nothing goes on": (
        "return 0, end, FORBIDDEN, True",
        "return 0, s, FORBIDDEN, False",
        ["tests/worlds/pomdps/test_rock_sample.py::test_steps_are_those_of_the_table"],
    ),
    "every edge is the east edge": (
        "LEFT if a == 1 else FORBIDDEN",
        "LEFT",
        ["tests/worlds/pomdps/test_rock_sample.py::test_steps_are_those_of_the_table"],
    ),
    "a move turns rocks bad": (
        "s + ((there - cell) << k)",
        "there << k",
        ["tests/worlds/pomdps/test_rock_sample.py::test_steps_are_those_of_the_table"],
    ),
    "the end is left again": (
        "    if s == end:\n",
        "    if s == end and a > 3:\n",
        ["tests/worlds/pomdps/test_rock_sample.py::test_steps_are_those_of_the_table"],
    ),
    "the probability of the other answer": (
        "np.where(agrees, right, 1.0 - right)",
        "np.where(agrees, 1.0 - right, right)",
        [
            "tests/worlds/pomdps/test_rock_sample.py::test_steps_are_those_of_the_table",
            "tests/worlds/pomdps/test_rock_sample.py::test_particles_follow_the_exact_filter",
        ],
    ),
    "all rocks are bad at first": (
        "int(uniform(rng) * (1 << model.k))",
        "0",
        ["tests/worlds/pomdps/test_rock_sample.py::test_starts_are_those_of_the_table"],
    ),
    "a step draws one number": (
        "        generator(self.name, rng).random()  #",
        "        generator(self.name, rng)  #",
        ["tests/worlds/pomdps/test_rock_sample.py::test_steps_of_the_world_and_of_the_simulator_are_outcomes"],
    ),
    "a masked action is untried": (
        "Q[h, a], N[h, a] = -np.inf, 1",
        "Q[h, a], N[h, a] = -np.inf, 0",
        ["tests/worlds/pomdps/test_rock_sample.py::test_legal_and_preferred_actions"],
    ),
    "rollouts try what is not legal": (
        ("        if model.legal[s >> model.k, a]:\n            return a"),
        "        return a",
        ["tests/worlds/pomdps/test_rock_sample.py::test_legal_and_preferred_actions"],
    ),
    "preferring rollouts check": (
        "checks = model.k if epsilon > 0.0 else 0",
        "checks = model.k",
        ["tests/worlds/pomdps/test_rock_sample.py::test_legal_and_preferred_actions"],
    ),
    "a sample takes no time": (
        "GOOD + gamma * f[",
        "GOOD + f[",
        ["tests/worlds/pomdps/test_rock_sample.py::test_the_upper_bound_is_the_value_of_rocks_that_are_seen"],
    ),
    "a bound for good rocks": (
        "f[k].mean()",
        "f[k].max()",
        ["tests/worlds/pomdps/test_rock_sample.py::test_the_upper_bound_is_the_value_of_rocks_that_are_seen"],
    ),
    "a map draws a cell twice": (
        "replace=False",
        "replace=True",
        ["tests/worlds/pomdps/test_rock_sample.py::test_maps"],
    ),
}
