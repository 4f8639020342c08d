"""Planted bugs of bayesrl.models.policies.controller_policy."""

MODULE = "bayesrl.models.policies.controller_policy"
PLANTED = {
    "a controller keeps its node into the next episode": (
        "if transition.ends_episode:",
        "if False:",
        ["tests/models/policies/test_policy.py::test_a_controller_walks_its_nodes"],
    ),
}
