"""Planted bugs of bayesrl.beliefs.dynamics._gp_arrays."""

MODULE = "bayesrl.beliefs.dynamics._gp_arrays"
PLANTED = {
    "fresh functions at each step of a path": (
        "predict(gp, n + t, path[t]",
        "predict(gp, n, path[t]",
        ["tests/beliefs/dynamics/test_gp_dynamics.py::test_paths_follow_one_function"],
    ),
    "a compiled prediction without noise": (
        "max(left, 0.0) + gp.noise[g]",
        "max(left, 0.0)",
        ["tests/beliefs/dynamics/test_gp_dynamics.py::test_arrays_are_the_belief"],
    ),
    "a tree that learns in its last row only": (
        "gp.w[p, n] = z[p]",
        "gp.w[p, -1] = z[p]",
        ["tests/beliefs/dynamics/test_gp_dynamics.py::test_arrays_are_the_belief"],
    ),
}
