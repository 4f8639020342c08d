"""Planted bugs of bayesrl.bamdp.optimism._imagined."""

MODULE = "bayesrl.bamdp.optimism._imagined"
PLANTED = {
    "BOLT imagines the first outcome, not the best": (
        "if x > top:",
        "if k == 0:",
        ["tests/bamdp/optimism/test_optimism.py::test_bolt_equals_the_listed_extended_mdp[5.0-tied]"],
    ),
}
