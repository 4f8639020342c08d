"""Planted bugs of bayesrl.models._listed."""

MODULE = "bayesrl.models._listed"
PLANTED = {
    "unlisted moves pay nothing": (
        "    return frozen(most_probable(",
        "    return frozen(0.0 * most_probable(",
        ["tests/adapters/test_gymnasium.py::test_flat_rewards_do_not_tell_the_successor"],
    ),
    "every unlisted move pays what its pair pays": (
        "if is_function(y, r, t.S):",
        "if False:",
        ["tests/adapters/test_gymnasium.py::test_flat_rewards_do_not_tell_the_successor"],
    ),
}
