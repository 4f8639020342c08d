"""Planted bugs of bayesrl.risk.samples."""

MODULE = "bayesrl.risk.samples"
PLANTED = {
    "actions are not weighed": (
        "p = weight[e] * table[cell[e]]",
        "p = table[cell[e]]",
        ["tests/risk/test_value_samples.py::test_equal_to_solving_the_models_that_are_drawn[known0]"],
    ),
    "rows that need not end are drawn": (
        "        must_end(owner, belief.sample_mdp(deepcopy(rng)), mu)  #",
        "        #",
        ["tests/risk/test_undiscounted_risk.py::test_values_without_end_are_refused_with_the_state"],
    ),
    "drawn models need not end": (
        "            must_end(owner, model, mu)\n",
        "",
        ["tests/risk/test_undiscounted_risk.py::test_values_without_end_are_refused_with_the_state"],
    ),
    "infinite values are returned": (
        "if gamma == 1.0 and not np.isfinite(V).all():",
        "if gamma > 1.0:",
        ["tests/risk/test_undiscounted_risk.py::test_values_without_end_are_refused_with_the_state"],
    ),
}
