"""Planted bugs of bayesrl.multitask.multitask_gptd."""

MODULE = "bayesrl.multitask.multitask_gptd"
PLANTED = {
    "the covariances C_m are forgotten in Sigma": (
        "np.outer(mu, mu) + found.C.sum(axis=0) + off.T @ off",
        "np.outer(mu, mu) + off.T @ off",
        ["tests/multitask/test_multitask_gptd.py::test_equal_to_a_transcription"],
    ),
    "the degrees of the marginal": (
        "/ (nu + d + 2.0 + M)",
        "/ (nu + d + 1.0 + M)",
        ["tests/multitask/test_multitask_gptd.py::test_equal_to_a_transcription"],
    ),
    "the spread of the mean is forgotten": (
        "Psi + kappa * np.outer(mu, mu) + found.C",
        "Psi + found.C",
        ["tests/multitask/test_multitask_gptd.py::test_equal_to_a_transcription"],
    ),
    "the trace without the prior": (
        "trace.append(float(log_prior(base, mu, Sigma) + ",
        "trace.append(float(",
        ["tests/multitask/test_multitask_gptd.py::test_the_trace_is_the_objective_and_never_falls"],
    ),
    "the prior without the factor of the mean": (
        "- 0.5 * (nu + d + 2.0) * log_det - 0.5 * spread",
        "- 0.5 * (nu + d + 1.0) * log_det - 0.5 * spread",
        ["tests/multitask/test_multitask_gptd.py::test_the_trace_is_the_objective_and_never_falls"],
    ),
}
