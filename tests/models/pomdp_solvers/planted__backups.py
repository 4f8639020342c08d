"""Planted bugs of bayesrl.models.pomdp_solvers._backups."""

MODULE = "bayesrl.models.pomdp_solvers._backups"
PLANTED = {
    "Omega at the old state, at points": (
        ("h = m.observation_group[s, a]\n        for k in range(m.observation_size[h]):\n            after[s]"),
        ("h = m.observation_group[0, a]\n        for k in range(m.observation_size[h]):\n            after[s]"),
        ["tests/models/pomdp_solvers/test_point_based.py::test_sweep_equals_its_transcription"],
    ),
    "values ahead are not discounted": (
        "q[a] += m.gamma * v[pick[a, o]]",
        "q[a] += v[pick[a, o]]",
        ["tests/models/pomdp_solvers/test_point_based.py::test_sweep_equals_its_transcription"],
    ),
    "four states at a time, the rest never": (
        "    for i in range(n, end):",
        "    for i in range(end, end):",
        ["tests/models/pomdp_solvers/test_point_based.py::test_sweep_equals_its_transcription"],
    ),
    "what values rest on is dropped": (
        "stays[j] = x.max() < before - slack",
        "stays[j] = False",
        ["tests/models/pomdp_solvers/test_point_based.py::test_values_at_the_beliefs_never_fall"],
    ),
    "a sweep lowers what Perseus has kept": (
        "        if better(old[best], np.dot(new[i], points[i])):",
        "        if False:",
        ["tests/models/pomdp_solvers/test_point_based.py::test_a_sweep_lowers_nothing_that_was_kept"],
    ),
    "an action takes the prediction of the one before": (
        "    for a in range(A):\n        blind = -1\n",
        "    blind = -1\n    for a in range(A):\n",
        ["tests/models/pomdp_solvers/test_backups.py::test_each_action_has_its_own_prediction"],
    ),
}
