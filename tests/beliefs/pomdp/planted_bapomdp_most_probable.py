"""Planted bugs of bayesrl.beliefs.pomdp.bapomdp_most_probable."""

MODULE = "bayesrl.beliefs.pomdp.bapomdp_most_probable"
PLANTED = {
    "pruned evidence": (
        ("        probability = float(new.weight.sum())\n        if len"),
        ("        probability = float(np.sort(new.weight)[-2:].sum())\n        if len"),
        [
            "tests/beliefs/pomdp/test_bapomdp_beliefs.py::test_bounded_and_pruned_beliefs_are_exact_while_nothing_is_left_out"
        ],
    ),
    "the lightest are kept": (
        "largest(new.weight",
        "largest(-new.weight",
        ["tests/beliefs/pomdp/test_bapomdp_beliefs.py::test_the_heaviest_are_kept"],
    ),
}
