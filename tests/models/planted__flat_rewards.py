"""Planted bugs of bayesrl.models._flat_rewards."""

MODULE = "bayesrl.models._flat_rewards"
PLANTED = {
    "of several rewards the first one counts": (
        "last = len(s) - 1 - np.unique(((s * A + a) * S + y)[::-1], return_index=True)[1]",
        "last = np.unique((s * A + a) * S + y, return_index=True)[1]",
        ["tests/models/test_derived.py::test_rewards_of_transitions_equal_loops"],
    ),
}
