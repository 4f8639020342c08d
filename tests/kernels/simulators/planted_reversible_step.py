"""Planted bugs of bayesrl.kernels.simulators.reversible_step."""

MODULE = "bayesrl.kernels.simulators.reversible_step"
PLANTED = {
    "a replayed outcome is never new": (
        "row.kinds += ONE",
        "pass",
        ["tests/bamdp/search/test_bfs3.py::test_replay_and_undo_follow_the_belief[sparse]"],
    ),
    "an undone outcome stays": (
        "row.kinds -= ONE",
        "pass",
        ["tests/bamdp/search/test_bfs3.py::test_replay_and_undo_follow_the_belief[sparse]"],
    ),
    "the reward of a replayed step is forgotten": (
        "put_ball(model.rewards, model.cell[s, a, k // V], k % V)",
        "pass",
        ["tests/bamdp/search/test_bfs3.py::test_replay_and_undo_follow_the_belief[unknown]"],
    ),
}
