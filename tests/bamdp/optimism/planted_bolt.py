"""Planted bugs of bayesrl.bamdp.optimism.bolt."""

MODULE = "bayesrl.bamdp.optimism.bolt"
PLANTED = {
    "BOLT imagines without dividing": (
        "eta / (count + eta)",
        "eta / (count + eta + 1.0)",
        ["tests/bamdp/optimism/test_optimism.py::test_bolt_equals_the_listed_extended_mdp[5.0-tied]"],
    ),
}
