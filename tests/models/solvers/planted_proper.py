"""Planted bugs of bayesrl.models.solvers.proper."""

MODULE = "bayesrl.models.solvers.proper"
PLANTED = {
    "a state is left if some action may leave it": (
        "~leaves(kept).all(axis=1)",
        "~leaves(kept).any(axis=1)",
        ["tests/models/solvers/test_proper.py::test_what_need_not_end_is_refused_with_the_state"],
    ),
    "nature has the first rows only": (
        "possible = rows.prob > 0.0",
        "possible = rows.prob[:1] > 0.0",
        ["tests/models/solvers/test_proper.py::test_a_choice_of_rows_may_be_endless_where_no_row_is"],
    ),
    "actions that a policy does not take lead to its end": (
        " & (policy > 0.0)[:, :, None]",
        "",
        [
            "tests/models/solvers/test_proper.py::test_endless_states_are_those_that_some_policy_keeps[0]",
            "tests/models/solvers/test_proper.py::test_endless_states_are_those_that_some_policy_keeps[1]",
        ],
    ),
    "the first policy's episodes count as the longest": (
        "float(w.max(initial=1.0))) == 0",
        "float(w.max(initial=1.0))) >= 0",
        ["tests/models/solvers/test_proper.py::test_longest_episodes_are_the_enumerated_ones[0]"],
    ),
    "the choices are improved but once": (
        "        if not (better & ~ended).any():",
        "        if (j > 0).any() or not better.any():",
        [
            "tests/models/solvers/test_proper.py::test_longest_choices_are_the_enumerated_ones[0]",
            "tests/models/solvers/test_proper.py::test_longest_choices_are_the_enumerated_ones[1]",
            "tests/models/solvers/test_proper.py::test_longest_choices_are_the_enumerated_ones[2]",
        ],
    ),
    "one state after another is over where only some outcomes are": (
        "more = over | ~(possible & ~over[o.succ]).any(axis=(1, 2))",
        "more = over | (possible & over[o.succ]).any(axis=(1, 2))",
        ["tests/models/solvers/test_proper.py::test_the_longest_path"],
    ),
    "discount 0.75 has the scale 0.75": (
        "1.0 / (1.0 - mdp.gamma)",
        "mdp.gamma",
        ["tests/models/solvers/test_proper.py::test_longest_episodes_are_the_enumerated_ones[0]"],
    ),
}
