"""Planted bugs of bayesrl.lab.priors."""

MODULE = "bayesrl.lab.priors"
PLANTED = {
    "the bound forgets the prior's totals": (
        "largest + MORE if size is None",
        "float(MORE) if size is None",
        ["tests/lab/test_priors.py::test_priors_of_worlds_with_hidden_states"],
    ),
    "rollouts are not told what to prefer": (
        'getattr(world, "preferred", None)',
        "None",
        ["tests/lab/test_priors.py::test_the_filter_knows_what_rollouts_prefer"],
    ),
    "the prior forgets what is legal": (
        'getattr(world, "legal", None)',
        "None",
        ["tests/worlds/test_rock_sample.py::test_searches_have_the_same_values"],
    ),
}
