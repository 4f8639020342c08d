"""Planted bugs of bayesrl.risk._static_max_min."""

MODULE = "bayesrl.risk._static_max_min"
PLANTED = {
    "a big M that binds": (
        "M, least = (high[:, :, None] - d.low) / unit",
        "M, least = 0.05 * (high[:, :, None] - d.low) / unit",
        ["tests/risk/test_scenario_max_min.py::test_program_equals_enumeration"],
    ),
    "gradients forget the visits": (
        "return V @ d.start, visits * q",
        "return V @ d.start, q + 0.0 * visits",
        ["tests/risk/test_scenario_max_min.py::test_gradients_of_returns"],
    ),
    "a scenario lasts as long as mixtures do": (
        "    if x.gamma == 1.0:  #",
        "    if x.gamma > 1.0:  #",
        ["tests/risk/test_undiscounted_risk.py::test_a_scenario_is_solved_to_its_end_where_mixtures_need_not_end"],
    ),
}
