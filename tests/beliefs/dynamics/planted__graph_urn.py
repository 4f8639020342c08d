"""Planted bugs of bayesrl.beliefs.dynamics._graph_urn."""

MODULE = "bayesrl.beliefs.dynamics._graph_urn"
PLANTED = {
    "parents drawn at every simulated step": (
        "        if model.drawn[a, i] < 0:",
        "        if True:",
        ["tests/beliefs/dynamics/test_factored_dbn.py::test_simulated_steps_follow_the_predictive"],
    ),
    "parents stay drawn where steps after a replay are undone": (
        "now[REPLAYED] = min(now[REPLAYED], now[STEPS])\n    if now[STEPS] == now[REPLAYED]:",
        "now[REPLAYED] = min(now[REPLAYED], now[STEPS])\n    if now[STEPS] == 0:",
        ["tests/beliefs/test_plumbing.py::test_a_step_that_was_undone_leaves_nothing[factored-dbn]"],
    ),
}
