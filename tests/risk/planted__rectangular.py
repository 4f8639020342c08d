"""Planted bugs of bayesrl.risk._rectangular."""

MODULE = "bayesrl.risk._rectangular"
PLANTED = {
    "nature chooses the best scenario": (
        "low = q.min(axis=0)\n",
        "low = q.max(axis=0)\n",
        ["tests/risk/test_scenario_max_min.py::test_values_are_those_of_plain_iteration[rectangular]"],
    ),
    "the residual is taken for the error": (
        "(change + rounding) / rate, done",
        "(change + rounding), done",
        ["tests/risk/test_scenario_max_min.py::test_a_stalled_iteration_says_so"],
    ),
    "next states of the first model for all": (
        '"succ", "group") for m in models)',
        '"group") for m in models)',
        ["tests/risk/test_scenario_max_min.py::test_outcomes_that_differ_and_those_that_are_shared"],
    ),
    "rewards of the first model for all": (
        '_same(first, m.outcomes, "reward") for m in models)',
        "True for m in models)",
        ["tests/risk/test_scenario_max_min.py::test_values_are_those_of_plain_iteration[rectangular]"],
    ),
    "the error of a step is that of all steps with discount 1": (
        "(1.0 - L * SMALL) / L**2",
        "1.0 - L * SMALL",
        ["tests/risk/test_undiscounted_risk.py::test_the_error_bound_holds_from_any_start[0]"],
    ),
    "mixtures of scenarios need not end": (
        "    if x.gamma == 1.0 and not np.isfinite(x.lasts).all():\n",
        "    if x.gamma > 1.0:\n",
        ["tests/risk/test_undiscounted_risk.py::test_scenarios_that_end_alone_and_not_together"],
    ),
}
