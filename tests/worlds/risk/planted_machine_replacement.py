"""Planted bugs of bayesrl.worlds.risk.machine_replacement."""

MODULE = "bayesrl.worlds.risk.machine_replacement"
PLANTED = {
    "a long repair ends at once": (
        "P[LONG, 1, [REPAIR, LONG]] = 0.6, 0.4",
        "P[LONG, 1, [REPAIR, LONG]] = 1.0, 0.0",
        ["tests/worlds/risk/test_risk_worlds.py::test_machine_replacement_by_hand"],
    ),
    "the state that is left pays": (
        'REWARD if paid == "reached" else',
        'REWARD if paid == "current" else',
        ["tests/worlds/risk/test_risk_worlds.py::test_machine_replacement_is_worth_what_was_computed"],
    ),
}
