"""Planted bugs of bayesrl.risk.scenario_max_min."""

MODULE = "bayesrl.risk.scenario_max_min"
PLANTED = {
    "the best scenario of a policy is reported": (
        "worst = V[first_best(-(V @ d.start))]",
        "worst = V[first_best(V @ d.start)]",
        ["tests/risk/test_scenario_max_min.py::test_three_scenarios_of_two_states"],
    ),
    "scenarios need not end": (
        '            must_be_proper(OWNER, "problem", m)\n',
        "            pass\n",
        ["tests/risk/test_undiscounted_risk.py::test_max_min_refuses_what_need_not_end"],
    ),
}
