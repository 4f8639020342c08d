"""Planted bugs of bayesrl.pacbayes.divergence."""

MODULE = "bayesrl.pacbayes.divergence"
PLANTED = {
    "KL forgotten for losses": (
        "sqrt((kl + log(2.0)",
        "sqrt((log(2.0)",
        ["tests/pacbayes/test_bounds.py::test_function_approximation_bound_by_hand"],
    ),
    "KL the wrong way round": (
        "rel_entr(q, p)",
        "rel_entr(p, q)",
        ["tests/pacbayes/test_bounds.py::test_kl_by_hand"],
    ),
    "one datum has no bound": (
        "n < 1.0 else",
        "n <= 1.0 else",
        ["tests/pacbayes/test_bounds.py::test_one_datum_has_a_bound"],
    ),
}
