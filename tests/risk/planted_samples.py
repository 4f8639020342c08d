"""Planted bugs of bayesrl.risk.samples."""

MODULE = "bayesrl.risk.samples"
PLANTED = {
    "actions are not weighed": (
        "p = weight[e] * table[cell[e]]",
        "p = table[cell[e]]",
        ["tests/risk/test_value_samples.py::test_equal_to_solving_the_models_that_are_drawn[known0]"],
    ),
}
