"""Planted bugs of bayesrl.worlds.risk.inventory_binomial."""

MODULE = "bayesrl.worlds.risk.inventory_binomial"
PLANTED = {
    "units beyond the capacity are paid for": (
        "cost = COST * (level - stock[:, None, None])",
        "cost = COST * stock[None, :, None]",
        ["tests/worlds/risk/test_risk_worlds.py::test_inventory_binomial_by_hand"],
    ),
    "buyers and others are exchanged": (
        "BUYS**d * (1.0 - BUYS) ** (CUSTOMERS - d)",
        "(1.0 - BUYS) ** d * BUYS ** (CUSTOMERS - d)",
        ["tests/worlds/risk/test_risk_worlds.py::test_inventory_binomial_is_worth_what_was_computed"],
    ),
    "days of one level are not tied": (
        "group=level[:, :, 0]",
        "group=np.maximum(level[:, :, 0] - stock, 0)",
        ["tests/worlds/risk/test_risk_worlds.py::test_days_with_the_same_stock_after_delivery_are_tied"],
    ),
}
