"""Planted bugs of bayesrl.worlds.risk.inventory."""

MODULE = "bayesrl.worlds.risk.inventory"
PLANTED = {
    "lost orders are free": (
        "- COST * a - HOLDING * (x - k)",
        "- COST * (x - s) - HOLDING * (x - k)",
        ["tests/worlds/risk/test_inventory.py::test_rows_by_hand"],
    ),
    "what was ordered is held too": (
        "- COST * a - HOLDING * (x - k)",
        "- COST * a - HOLDING * x",
        ["tests/worlds/risk/test_inventory.py::test_computed_values"],
    ),
    "rows are not normalised": (
        "np.where(k == x, above, 0.0)",
        "np.where(k == x, 1.0 - ndtr((k - 0.5 - M / 2.0) / (M / 6.0)) + ndtr(-3.0 - 3.0 / M), 0.0)",
        ["tests/worlds/risk/test_inventory.py::test_computed_values"],
    ),
}
