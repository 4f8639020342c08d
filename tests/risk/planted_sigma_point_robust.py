"""Planted bugs of bayesrl.risk.sigma_point_robust."""

MODULE = "bayesrl.risk.sigma_point_robust"
PLANTED = {
    "rows that leave the simplex keep their beta": (
        "np.where(most < self.beta, most, self.beta)",
        "np.full(most.shape, self.beta)",
        ["tests/risk/test_sigma_point_robust.py::test_rows_that_would_leave_the_simplex_are_counted"],
    ),
    "rows that have learnt keep their old root": (
        "root[changed] = roots(covariance[changed])",
        "root[changed] += 0.0",
        ["tests/risk/test_sigma_point_robust.py::test_a_plan_is_used_for_a_number_of_steps"],
    ),
    "a sigma point may forbid the end": (
        "INSIDE = 0.5",
        "INSIDE = 1.0",
        ["tests/risk/test_undiscounted_risk.py::test_sigma_point_robust_equals_its_transcription[50.0]"],
    ),
    "rows are as wide with discount 1 as with another": (
        "        if mean.gamma == 1.0:\n            most",
        "        if mean.gamma > 1.0:\n            most",
        [
            "tests/risk/test_undiscounted_risk.py::test_sigma_point_robust_equals_its_transcription[2.0]",
            "tests/risk/test_undiscounted_risk.py::test_sigma_point_robust_equals_its_transcription[50.0]",
        ],
    ),
}
