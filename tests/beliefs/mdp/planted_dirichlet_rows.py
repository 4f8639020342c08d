"""Planted bugs of bayesrl.beliefs.mdp.dirichlet_rows."""

MODULE = "bayesrl.beliefs.mdp.dirichlet_rows"
PLANTED = {
    "sticks are broken where counts differ": (
        "if (prior_counts == even[:, None])[learnt].all() else None",
        "",
        ["tests/beliefs/mdp/test_dirichlet_sticks.py::test_where_sticks_are_broken"],
    ),
    "tiny counts underflow": (
        "SMALL_ALPHA = 0.1",
        "SMALL_ALPHA = 0.0",
        ["tests/beliefs/mdp/test_dirichlet.py"],
    ),
}
