"""Planted bugs of bayesrl.risk._state_rectangular."""

MODULE = "bayesrl.risk._state_rectangular"
PLANTED = {
    "a falling line replaces the rising one": (
        "np.where(lower & up, j, left), np.where(lower & ~up, j, right)",
        "np.where(lower & ~up, j, left), np.where(lower & up, j, right)",
        ["tests/risk/test_scenario_max_min.py::test_games"],
    ),
    "nature's weights are swapped": (
        "np.add.at(y, (s, left), fall / steep)",
        "np.add.at(y, (s, left), rise / steep)",
        ["tests/risk/test_scenario_max_min.py::test_games"],
    ),
}
