"""Planted bugs of bayesrl.risk._cutting_planes."""

MODULE = "bayesrl.risk._cutting_planes"
PLANTED = {
    "the prior's weights are the adversary's": (
        "adversary, upper = multipliers @ np.array(cuts), min(upper, t)",
        "adversary, upper = weights, min(upper, t)",
        ["tests/risk/test_percentile_measure.py::test_planning_against_the_adversary_earns_the_value[histories]"],
    ),
    "the programs stop after the first": (
        "ROUNDS = 5000",
        "ROUNDS = 1",
        [
            "tests/risk/test_percentile_measure.py::test_equal_to_the_program_with_all_orders[histories-Measure.cvar(0.3)-unequal]"
        ],
    ),
    "the rows of the program are not discounted": (
        "sparse.csr_array(self.model.gamma * self.model.matrix.T)",
        "sparse.csr_array(self.model.matrix.T)",
        ["tests/risk/test_percentile_measure.py::test_planning_against_the_adversary_earns_the_value[stationary]"],
    ),
}
