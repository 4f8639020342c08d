"""Planted bugs of bayesrl.worlds.pomdps.dialogue."""

MODULE = "bayesrl.worlds.pomdps.dialogue"
PLANTED = {
    "yes is said to every goal": (
        "seen[goal, 1 + goal, :2] = [k, k + 1]",
        "pass",
        ["tests/worlds/pomdps/test_dialogue.py::test_dialogue_by_hand"],
    ),
    "the next user wants the same": (
        "succ[:, : 1 + k, 0]",
        "succ[:, :, 0]",
        ["tests/worlds/pomdps/test_dialogue.py::test_dialogue_by_hand"],
    ),
    "confirmations are tied to questions": (
        "group[:, 0], group[:, 1 : 1 + k] = 0, 1",
        "group[:, 0], group[:, 1 : 1 + k] = 1, 0",
        ["tests/worlds/pomdps/test_dialogue.py::test_dialogue_by_hand"],
    ),
    "each wrong word has the whole count": (
        "[bad / (k - 1)] * (k - 1)",
        "[bad] * (k - 1)",
        [
            "tests/worlds/pomdps/test_dialogue.py::test_dialogue_by_hand",
            "tests/worlds/pomdps/test_dialogue.py::test_answers_are_tied",
        ],
    ),
    "the bracket of any dialogue": (
        "BRACKET if usual else None",
        "BRACKET",
        ["tests/worlds/pomdps/test_dialogue.py::test_the_value_is_that_of_a_stopping_problem"],
    ),
}
