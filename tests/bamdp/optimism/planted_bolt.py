"""Planted bugs of bayesrl.bamdp.optimism.bolt."""

MODULE = "bayesrl.bamdp.optimism.bolt"
PLANTED = {
    "BOLT imagines without dividing": (
        "eta / (count + eta)",
        "eta / (count + eta + 1.0)",
        ["tests/bamdp/optimism/test_optimism.py::test_bolt_equals_the_listed_extended_mdp[5.0-tied]"],
    ),
    "BOLT may plan for episodes that need not end": (
        '            must_be_proper(type(self).__name__, "belief", belief.optimistic_mdp(0.0), hint)\n',
        "",
        ["tests/bamdp/test_undiscounted.py::test_planners_refuse_what_need_not_end[bolt]"],
    ),
}
