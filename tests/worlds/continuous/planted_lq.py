"""Planted bugs of bayesrl.worlds.continuous.lq."""

MODULE = "bayesrl.worlds.continuous.lq"
PLANTED = {
    "a family without its restriction": (
        "if not inside(a, b)]",
        "if False]",
        ["tests/worlds/continuous/test_linear_worlds.py::test_the_family_draws_what_it_says"],
    ),
}
