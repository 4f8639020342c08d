"""Planted bugs of bayesrl.lab.literature.suggestions."""

MODULE = "bayesrl.lab.literature.suggestions"
PLANTED = {
    "the tiger suggests nothing": (
        '{"tiger": ENDLESS_TIGER, "tiger-tied"',
        '{"tiger": {}, "tiger-tied"',
        ["tests/cli/test_hidden.py::test_a_world_suggests_settings_of_methods"],
    ),
}
