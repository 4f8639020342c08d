"""Planted bugs of bayesrl.risk.samples."""

MODULE = "bayesrl.risk.samples"
PLANTED = {
    "actions are not weighed": (
        "p = weight[e] * table[cell[e]]",
        "p = table[cell[e]]",
        ["tests/risk/test_value_samples.py::test_equal_to_solving_the_models_that_are_drawn[known0]"],
    ),
    "a gamma variate of another shape": (
        "np.where(a < 1.0, a + 1.0, a) - 1.0 / 3.0",
        "np.where(a < 1.0, a + 1.0, a)",
        ["tests/risk/test_value_samples.py::test_drawn_rows_are_dirichlet[counts3]"],
    ),
    "small counts are drawn as larger ones": (
        "np.where(a < 1.0, 1.0 / a, 0.0)",
        "np.where(a < 1.0, 1.0, 0.0)",
        ["tests/risk/test_value_samples.py::test_drawn_rows_are_dirichlet[counts1]"],
    ),
    "every proposal is accepted": (
        "0.5 * x * x + d * (1.0 - v + math.log(v))",
        "1e9",
        ["tests/risk/test_value_samples.py::test_drawn_rows_are_dirichlet[counts3]"],
    ),
    "known rows are drawn": (
        "rows = np.flatnonzero(~belief.known & (o.size > 1))",
        "rows = np.flatnonzero(o.size > 1)",
        ["tests/risk/test_value_samples.py::test_equal_to_solving_the_models_that_are_drawn[known1]"],
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
