"""Planted bugs of bayesrl.continuous.lazy_psrl."""

MODULE = "bayesrl.continuous.lazy_psrl"
PLANTED = {
    "the determinant is compared with the step before": (
        "return Decision(action_of(K, x), memory._replace(steps=memory.steps + 1), info)",
        "return Decision(action_of(K, x), memory._replace(steps=memory.steps + 1, log_det=now), info)",
        [
            "tests/continuous/test_lazy_psrl.py::test_transcription",
            "tests/continuous/test_lazy_psrl.py::test_sampling_times_of_the_facts",
        ],
    ),
    "nothing to spare": (
        "SPARE = 1e-9",
        "SPARE = -1e-9",
        ["tests/continuous/test_lazy_psrl.py::test_sampling_times_of_the_facts"],
    ),
    "the gain is that of the mean": (
        "        gain[left[inside]] = found.gain[found.stable]",
        "        gain[left[inside]] = gains_of_means(belief.theta.reshape(new.size, *belief.theta.shape[-2:]), belief)[left[inside]]",
        ["tests/continuous/test_lazy_psrl.py::test_transcription"],
    ),
    "a discount on the average cost": (
        "found = gains(A[inside], B[inside], belief.Q, belief.R)",
        "found = gains(0.95**0.5 * A[inside], 0.95**0.5 * B[inside], belief.Q, belief.R)",
        [
            "tests/continuous/test_lazy_psrl.py::test_transcription",
            "tests/continuous/test_lazy_psrl.py::test_at_a_certain_belief_the_gain_is_the_riccati_gain",
        ],
    ),
    "draws outside are used": (
        "bool(called(",
        "True or bool(called(",
        [
            "tests/continuous/test_lazy_psrl.py::test_draws_outside_are_drawn_again",
            "tests/continuous/test_lazy_psrl.py::test_lockstep_equals_its_transcription",
        ],
    ),
    "the mean is used in silence": (
        "        of_mean[left] = True",
        "        pass",
        ["tests/continuous/test_lazy_psrl.py::test_after_so_many_tries_the_mean_is_used"],
    ),
    "one try too many": (
        "for _ in range(rule.tries):",
        "for _ in range(rule.tries + 1):",
        ["tests/continuous/test_lazy_psrl.py::test_after_so_many_tries_the_mean_is_used"],
    ),
    "all replicates draw with the first": (
        "    left = np.flatnonzero(new)",
        "    left = np.arange(new.size)",
        ["tests/continuous/test_lazy_psrl.py::test_lockstep_equals_its_transcription"],
    ),
    "a fresh draw restarts every replicate's determinant": (
        "np.where(new, now, memory.log_det)",
        "now",
        ["tests/continuous/test_lazy_psrl.py::test_lockstep_equals_its_transcription"],
    ),
    "every n steps is one late": (
        "memory.steps >= rule.schedule",
        "memory.steps > rule.schedule",
        ["tests/continuous/test_lazy_psrl.py::test_other_schedules"],
    ),
    "replicates that are not due lose their gain": (
        "gain = K.reshape(-1, *K.shape[-2:]).copy()",
        "gain = np.zeros_like(K.reshape(-1, *K.shape[-2:]))",
        ["tests/continuous/test_lazy_psrl.py::test_lockstep_equals_its_transcription"],
    ),
}
