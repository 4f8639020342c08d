"""Planted bugs of bayesrl.bamdp.offline.beetle."""

MODULE = "bayesrl.bamdp.offline.beetle"
PLANTED = {
    "the discount is forgotten in a backup": (
        "f = problem.gamma * alphas",
        "f = 1.0 * alphas",
        ["tests/bamdp/offline/test_beetle.py::test_a_basis_that_spans_gives_exact_values"],
    ),
    "an outcome that was seen counts among the others too": (
        "        chance[k] = 0.0\n",
        "",
        ["tests/bamdp/offline/test_beetle.py::test_what_is_listed_equals_what_is_written_out"],
    ),
    "alpha-functions are chosen at the belief before the outcome": (
        "alphas.first[y + 1]], w)",
        "alphas.first[y + 1]], e * rows[a, k] / mass)",
        ["tests/bamdp/offline/test_beetle.py::test_a_basis_that_spans_gives_exact_values"],
    ),
    "outcomes not seen are worth what they are in rows not seen": (
        "v_g = np.dot(alphas.coefficient, e * mass / (mass + total))",
        "v_g = v",
        ["tests/bamdp/offline/test_beetle.py::test_what_is_listed_equals_what_is_written_out"],
    ),
    "a belief knows what others have seen": (
        "            if b == i:\n",
        "            if True:\n",
        ["tests/bamdp/offline/test_beetle.py::test_what_is_listed_equals_what_is_written_out"],
    ),
    "a backup that the projection spoils is kept": (
        "problem.terminal[s] or better(v_old, np.dot(c[m], points.moment[i]))",
        "False",
        ["tests/bamdp/offline/test_beetle.py::test_stages_equal_a_naive_transcription"],
    ),
    "points no worse than before are backed up all the same": (
        "if not better(v_old, v_new[s, i]):",
        "if False:",
        ["tests/bamdp/offline/test_beetle.py::test_stages_equal_a_naive_transcription"],
    ),
    "the planner takes the worst action": (
        "best_action(q, ",
        "best_action(-q, ",
        ["tests/bamdp/offline/test_beetle.py::test_the_arm_is_left_for_a_better_wage"],
    ),
    "costs begin at zero with discount 1": (
        "min(worst, 0.0) * lasts",
        "0.0 * lasts",
        ["tests/bamdp/test_undiscounted.py::test_beetle_solves_a_known_model[-1.0]"],
    ),
    "only the prior's episodes count": (
        "prior.alpha, h)) for h in histories]",
        "prior.alpha, h)) for h in histories[:1]]",
        ["tests/bamdp/test_undiscounted.py::test_beetle_begins_below_every_backup_at_its_beliefs"],
    ),
    "BEETLE may plan for episodes that need not end": (
        '            refuse_endless("BEETLE", "problem", state)\n',
        "",
        ["tests/bamdp/test_undiscounted.py::test_solvers_refuse_what_need_not_end"],
    ),
}
