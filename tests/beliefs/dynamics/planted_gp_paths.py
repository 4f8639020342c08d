"""Planted bugs of bayesrl.beliefs.dynamics.gp_paths."""

MODULE = "bayesrl.beliefs.dynamics.gp_paths"
PLANTED = {
    "fresh functions at each step of a plain path": (
        "            now = now.update(",
        "            now.update(",
        ["tests/beliefs/dynamics/test_gp_dynamics.py::test_paths_follow_one_function"],
    ),
    "paths from the middle of an uncertain start": (
        "starts = starts + z[:, T] @",
        "starts = starts + 0.0 * z[:, T] @",
        ["tests/beliefs/dynamics/test_gp_dynamics.py::test_propagation"],
    ),
}
