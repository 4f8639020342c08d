"""Planted bugs of bayesrl.kernels.simulators.hidden_model."""

MODULE = "bayesrl.kernels.simulators.hidden_model"
PLANTED = {
    "the root is always the likeliest state": (
        ("return model.states[draw_by(model.below, 0, len(model.states), rng)]\n\n\n@implements(step, H"),
        ("return model.states[0]\n\n\n@implements(step, H"),
        [
            "tests/bapomdp/test_pomcp.py::test_steps_follow_the_model",
            "tests/bapomdp/test_pomcp.py::test_root_values_with_an_end_and_rewards_of_all_arguments",
        ],
    ),
    "what was seen at the old state": (
        ("h = model.observation_group[y, a]\n    o = int(model.observation[y, a,"),
        ("h = model.observation_group[s, a]\n    o = int(model.observation[s, a,"),
        ["tests/bapomdp/test_pomcp.py::test_steps_follow_the_model"],
    ),
    "terminal ignored": (
        "model.terminal[y], 0\n",
        "False, 0\n",
        ["tests/bapomdp/test_pomcp.py::test_steps_follow_the_model"],
    ),
    "what cannot happen is drawn": (
        "np.where(so_far < so_far[:, -1:], np.cumsum(prob, axis=1), np.inf)",
        "np.cumsum(prob, axis=1)",
        ["tests/bapomdp/test_pomcp.py::test_what_has_no_probability_is_never_drawn"],
    ),
    "a table bars what is legal": (
        "if not model.legal[s, a]:\n",
        "if model.legal[s, a]:\n",
        ["tests/worlds/pomdps/test_rock_sample.py::test_searches_have_the_same_values"],
    ),
    "rollouts on a table try everything": (
        "while len(model.legal) > 0 and not model.legal[s, a]:",
        "while False:",
        ["tests/worlds/pomdps/test_rock_sample.py::test_searches_have_the_same_values"],
    ),
}
