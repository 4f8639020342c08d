"""Planted bugs of bayesrl.beliefs.values.kernel_selection."""

MODULE = "bayesrl.beliefs.values.kernel_selection"
PLANTED = {
    "candidates are scored without their prior weights": (
        "np.log(np.where(start.weights > 0.0, start.weights, 1e-300)) + gained",
        "gained",
        ["tests/beliefs/values/test_kernel_selection.py::test_weights_are_prior_times_evidence"],
    ),
    "the mixture forgets the spread of its means": (
        "return np.asarray(inside + (apart.T * self.weights) @ apart)",
        "return inside",
        ["tests/beliefs/values/test_kernel_selection.py::test_weights_are_prior_times_evidence"],
    ),
    "particles move without their prior": (
        "other.log_evidence() - value.log_evidence() + prior",
        "prior - other.log_evidence() + value.log_evidence()",
        ["tests/beliefs/values/test_kernel_selection.py::test_particles_agree_with_a_grid"],
    ),
    "a move replays the last log only": (
        "log=(*start.log, *steps) if self.particles",
        "log=tuple(steps) if self.particles",
        ["tests/beliefs/values/test_kernel_selection.py::test_what_a_move_replays_is_what_was_learnt"],
    ),
    "a restart is that of one covariance": (
        "values=tuple(v.restart() for v in self.values)",
        "values=(self.values[0].restart(), *self.values[1:])",
        ["tests/beliefs/test_plumbing.py::test_a_restart_happens_once[kernel-selection]"],
    ),
}
