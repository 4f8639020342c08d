"""Planted bugs of bayesrl.models.pomdp_solvers.pomdp_value_iteration."""

MODULE = "bayesrl.models.pomdp_solvers.pomdp_value_iteration"
PLANTED = {
    "Omega at the old state, exactly": (
        "p.gamma * (v.alpha * p.seen[a, o]) @ p.P[a].T",
        "p.gamma * p.seen[a, o] * (v.alpha @ p.P[a].T)",
        ["tests/models/pomdp_solvers/test_pomdp_value_iteration.py::test_equal_to_expectimax[shape1-5]"],
    ),
    "transitions backwards": (
        "@ p.P[a].T",
        "@ p.P[a]",
        ["tests/models/pomdp_solvers/test_pomdp_value_iteration.py::test_equal_to_expectimax[shape1-5]"],
    ),
    "the leaf is discounted, and nothing else": (
        "p.gamma * (v.alpha * p.seen[a, o])",
        "(v.alpha * p.seen[a, o])",
        ["tests/models/pomdp_solvers/test_pomdp_value_iteration.py::test_equal_to_expectimax[shape1-5]"],
    ),
    "rewards once for each observation": (
        "gamma_ao = p.gamma * (v.alpha * p.seen[a, o]) @ p.P[a].T",
        "gamma_ao = p.r[a] + p.gamma * (v.alpha * p.seen[a, o]) @ p.P[a].T",
        ["tests/models/pomdp_solvers/test_pomdp_value_iteration.py::test_equal_to_expectimax[shape1-5]"],
    ),
    "ends are ignored": (
        "live = ~pomdp.terminal",
        "live = np.ones(pomdp.n_states, np.bool_)",
        ["tests/models/pomdp_solvers/test_pomdp_value_iteration.py::test_tiger"],
    ),
    "terminal states count as work": (
        "int((~pomdp.terminal).sum())",
        "pomdp.n_states",
        ["tests/models/pomdp_solvers/test_pomdp_value_iteration.py::test_a_prior_about_too_large_a_pomdp_is_refused"],
    ),
    "an observation is forgotten": (
        "np.flatnonzero(p.seen[a].any(axis=1))",
        "np.flatnonzero(p.seen[a].any(axis=1))[1:]",
        ["tests/models/pomdp_solvers/test_pomdp_value_iteration.py::test_equal_to_expectimax[shape1-5]"],
    ),
    "actions of pruned vectors": (
        "return Vectors(alpha[kept], action[kept], witness), slack",
        "return Vectors(alpha[kept], action[: len(kept)], witness), slack",
        ["tests/models/pomdp_solvers/test_pomdp_value_iteration.py::test_tiger_thresholds"],
    ),
    "the error bound forgets what comes after": (
        "bound = p.gamma / (1.0 - p.gamma) * largest_excess(w.alpha, v.alpha)",
        "bound = largest_excess(w.alpha, v.alpha)",
        ["tests/models/pomdp_solvers/test_pomdp_value_iteration.py::test_the_error_bound_is_true"],
    ),
    "the gap the wrong way round": (
        "largest_excess(w.alpha, v.alpha)",
        "largest_excess(v.alpha, w.alpha)",
        ["tests/models/pomdp_solvers/test_pomdp_value_iteration.py::test_tiger"],
    ),
    "vectors without a limit": (
        "if len(alpha) > (most",
        "if 0 > (most",
        ["tests/models/pomdp_solvers/test_pomdp_value_iteration.py::test_too_many_vectors"],
    ),
}
