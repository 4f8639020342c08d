"""Planted bugs of bayesrl.models.pomdp_solvers.bounds."""

MODULE = "bayesrl.models.pomdp_solvers.bounds"
PLANTED = {
    "the fast informed bound as QMDP": (
        "x[m.observation[y, a, l], b] += p * m.observation_prob[h, l] * alpha[b, y]",
        "x[m.observation[y, a, l], b] += p * m.observation_prob[h, l] * alpha[:, y].max()",
        ["tests/models/pomdp_solvers/test_point_based.py::test_bounds_are_above_what_any_history_earns"],
    ),
    "the fast informed bound blind": (
        "x[m.observation[y, a, l], b]",
        "x[0, b]",
        ["tests/models/pomdp_solvers/test_point_based.py::test_bounds_are_above_what_any_history_earns"],
    ),
    "QMDP without its maximum": (
        "    q = solved.q + pomdp.gamma * solved.error_bound",
        "    q = 0.0 * solved.q + solved.q.mean(axis=1, keepdims=True)",
        ["tests/models/pomdp_solvers/test_point_based.py::test_bounds_are_above_what_any_history_earns"],
    ),
}
