"""Planted bugs of bayesrl.beliefs.pomdp.bapomdp_bounded."""

MODULE = "bayesrl.beliefs.pomdp.bapomdp_bounded"
PLANTED = {
    "the bound forgets the prior's totals": (
        "largest + MORE if bound is None",
        "float(MORE) if bound is None",
        ["tests/lab/test_priors.py::test_priors_of_worlds_with_hidden_states"],
    ),
}
