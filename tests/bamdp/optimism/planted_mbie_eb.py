"""Planted bugs of bayesrl.bamdp.optimism.mbie_eb."""

MODULE = "bayesrl.bamdp.optimism.mbie_eb"
PLANTED = {
    "MBIE-EB's bonus falls as 1/n": (
        "np.sqrt(np.maximum(n, 1.0))",
        "np.maximum(n, 1.0)",
        ["tests/bamdp/optimism/test_unvisited.py::test_mbie_eb_equals_its_transcription[mdp1-None]"],
    ),
    "MBIE-EB has no optimistic absorbing state": (
        "n == 0.0, worth",
        "n < 0.0, worth",
        ["tests/bamdp/optimism/test_unvisited.py::test_mbie_eb_equals_its_transcription[mdp1-None]"],
    ),
    "MBIE-EB's largest value is checked late": (
        '        best_value("MBIEEB", belief, self.r_max)\n',
        "",
        ["tests/bamdp/optimism/test_unvisited.py::test_pairs_that_do_not_fit_are_refused_at_once[mbie-eb-MBIEEB-beta]"],
    ),
    "the longest episode of the prior is kept": (
        "if memory is None or belief.gamma == 1.0:",
        "if memory is None:",
        ["tests/bamdp/test_undiscounted.py::test_rmax_and_mbie_eb_are_enumerated[0-None]"],
    ),
}
