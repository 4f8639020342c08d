"""Planted bugs of bayesrl.risk._information_sets."""

MODULE = "bayesrl.risk._information_sets"
PLANTED = {
    "nature's probabilities are left out": (
        "model.gamma**sets.step * reach",
        "model.gamma**sets.step",
        ["tests/risk/test_information_sets.py::test_returns_are_those_of_walking_all_histories"],
    ),
    "an episode goes on after a terminal state": (
        "possible & ~ends & ~np.repeat(ends, model.n_actions)[:, None]",
        "possible",
        ["tests/risk/test_information_sets.py::test_a_state_without_a_set_has_uniform_actions"],
    ),
    "a step is discounted twice": (
        "model.gamma**sets.step * reach",
        "model.gamma**(2 * sets.step) * reach",
        ["tests/risk/test_information_sets.py::test_returns_are_those_of_walking_all_histories"],
    ),
    "a truncated episode goes on": (
        "not last.ends_episode",
        "not last.terminated",
        ["tests/risk/test_information_sets.py::test_acting_moves_along_what_was_seen"],
    ),
    "the memory is the first set for ever": (
        "i = int(sets.entry[s]) if i == NONE else i",
        "i = int(sets.entry[s])",
        ["tests/risk/test_percentile_measure.py::test_the_policy_walked_through_plan_has_its_value[False-terminal0]"],
    ),
    "averaged behaviour": (
        "np.where(reached, x / np.where(reached, total, 1.0), otherwise)",
        "np.where(reached, x, otherwise)",
        ["tests/risk/test_information_sets.py::test_the_average_of_plans_is_the_plan_of_its_strategy"],
    ),
}
