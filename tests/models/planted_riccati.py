"""Planted bugs of bayesrl.models.riccati."""

MODULE = "bayesrl.models.riccati"
PLANTED = {
    "a transposed Theta": (
        ("    both = np.swapaxes(theta, -1, -2)\n    return both[..., :n], both[..., n:]"),
        "    return theta[..., :n, :], np.swapaxes(theta[..., n:, :], -1, -2)",
        [
            "tests/beliefs/dynamics/test_linear.py::test_draws_have_the_posterior_covariance",
            "tests/continuous/test_lazy_psrl.py::test_transcription",
        ],
    ),
    "doubling forgets what was gained": (
        "G[r, c] += g",
        "G[r, c] = g",
        ["tests/models/test_riccati.py::test_equal_to_plain_iteration"],
    ),
    "doubling stops early": (
        "change <= 1e-15 * size and left < 1e-8",
        "change <= 1e-3 * size and left < 1e-1",
        ["tests/models/test_riccati.py::test_equal_to_plain_iteration"],
    ),
    "an unstable loop passes": (
        "done = change <= 1e-15 * size and left < 1e-8",
        "done = change <= 1e-15 * size",
        ["tests/models/test_riccati.py::test_an_unstable_part_that_costs_nothing_is_stabilised"],
    ),
    "the gain forgets R": (
        "M[r, c] = R[r, c]",
        "M[r, c] = 0.0",
        ["tests/models/test_riccati.py::test_equal_to_plain_iteration"],
    ),
    "pivots are not exchanged": (
        "p = r if abs(M[r, c]) > abs(M[p, c]) else p",
        "p = c",
        ["tests/models/test_riccati.py::test_elimination_with_pivots"],
    ),
    "the cost forgets W": (
        "float(np.sum(P * W))",
        "float(np.trace(P))",
        [
            "tests/models/test_riccati.py::test_facts",
            "tests/models/test_riccati.py::test_the_cost_is_that_of_the_stationary_covariance",
        ],
    ),
    "only the first system that was left is solved by SciPy": (
        "in np.flatnonzero(~stable):",
        "in np.flatnonzero(~stable)[:1]:",
        ["tests/models/test_riccati.py::test_many_systems_are_those_one_by_one"],
    ),
}
