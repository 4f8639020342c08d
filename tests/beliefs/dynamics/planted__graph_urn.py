"""Planted bugs of bayesrl.beliefs.dynamics._graph_urn."""

MODULE = "bayesrl.beliefs.dynamics._graph_urn"
PLANTED = {
    "parents drawn at every simulated step": (
        "        if model.drawn[a, i] < 0:",
        "        if True:",
        ["tests/beliefs/dynamics/test_factored_dbn.py::test_simulated_steps_follow_the_predictive"],
    ),
}
