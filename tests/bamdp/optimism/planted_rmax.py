"""Planted bugs of bayesrl.bamdp.optimism.rmax."""

MODULE = "bayesrl.bamdp.optimism.rmax"
PLANTED = {
    "R-max knows a pair one visit early": (
        "visits_of_pairs(visits, belief) < m",
        "visits_of_pairs(visits, belief) < m - 1",
        ["tests/bamdp/optimism/test_unvisited.py::test_rmax_equals_its_transcription[mdp1-None]"],
    ),
}
