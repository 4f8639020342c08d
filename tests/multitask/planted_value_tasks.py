"""Planted bugs of bayesrl.multitask.value_tasks."""

MODULE = "bayesrl.multitask.value_tasks"
PLANTED = {
    "the noise is taken as a variance": (
        "np.linalg.qr(rows / noise.sigma",
        "np.linalg.qr(rows / np.sqrt(noise.sigma)",
        ["tests/multitask/test_multitask_gptd.py::test_equal_to_a_transcription"],
    ),
    "the determinant of the evidence is forgotten": (
        "constant - log_det - 0.5 * (",
        "constant - 0.5 * (",
        ["tests/multitask/test_multitask_gptd.py::test_posteriors_of_tasks_and_of_a_further_one"],
    ),
    "coloured noise without a tie": (
        "np.eye(n, n + 1) - self.gamma * np.eye(n, n + 1, 1)",
        "np.eye(n, n + 1)",
        ["tests/multitask/test_multitask_gptd.py::test_coloured_noise"],
    ),
    "a visit that goes on is counted twice": (
        "free -= 1  # the visit",
        "free -= 0  # the visit",
        ["tests/multitask/test_multitask_gptd.py::test_one_task_with_a_fixed_prior_is_parametric_gptd"],
    ),
    "an ended episode goes on": (
        "0.0 if x.terminated else 1.0",
        "1.0",
        ["tests/multitask/test_multitask_gptd.py::test_matrices_of_a_log"],
    ),
}
