"""Planted bugs of bayesrl.lab.build."""

MODULE = "bayesrl.lab.build"
PLANTED = {
    "a world's suggestions do not reach planners": (
        "{**suggested(world, entry), **params}",
        "params",
        ["tests/worlds/continuous/test_linear_worlds.py::test_the_restriction_reaches_the_planner"],
    ),
    "agents get no counts": (
        "told[needed] = world.model_prior()",
        "told[needed] = None",
        ["tests/cli/test_hidden.py::test_agents_get_the_counts_of_the_world"],
    ),
}
