"""Planted bugs of bayesrl.inverse.boltzmann."""

MODULE = "bayesrl.inverse.boltzmann"
PLANTED = {
    "the policy is held fixed in the Boltzmann gradient": (
        "D = p * (1.0 + self.c * (Q - V))",
        "D = p",
        ["tests/inverse/test_em_irl.py::test_gradients_equal_finite_differences"],
    ),
    "the transposed system is not transposed": (
        'np.einsum("sa,say->ys"',
        'np.einsum("sa,say->sy"',
        ["tests/inverse/test_em_irl.py::test_gradients_equal_finite_differences"],
    ),
    "the backup takes the maximum": (
        "            mean /= total\n",
        "            mean = top\n",
        ["tests/inverse/test_em_irl.py::test_the_backup_iterated_plainly"],
    ),
    "a backup that does not converge is returned": (
        "if not change <= ACCURACY:",
        "if False:",
        ["tests/inverse/test_em_irl.py::test_a_backup_that_goes_round_in_circles_is_refused"],
    ),
}
