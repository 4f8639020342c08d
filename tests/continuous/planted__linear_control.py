"""Planted bugs of bayesrl.continuous._linear_control."""

MODULE = "bayesrl.continuous._linear_control"
PLANTED = {
    "a discount on the average cost of the mean": (
        "found = gains(A, B, belief.Q, belief.R)",
        "found = gains(0.95**0.5 * A, 0.95**0.5 * B, belief.Q, belief.R)",
        ["tests/continuous/test_lazy_psrl.py::test_certainty_equivalence_steers_the_mean"],
    ),
    "the wrong sign of the action": (
        "np.asarray(-np.matmul",
        "np.asarray(np.matmul",
        [
            "tests/continuous/test_lazy_psrl.py::test_transcription",
            "tests/continuous/test_lazy_psrl.py::test_certainty_equivalence_steers_the_mean",
        ],
    ),
}
