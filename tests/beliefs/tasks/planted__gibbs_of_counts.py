"""Planted bugs of bayesrl.beliefs.tasks._gibbs_of_counts."""

MODULE = "bayesrl.beliefs.tasks._gibbs_of_counts"
PLANTED = {
    "a task is not taken out of its class": (
        ("            if z[m] >= 0:\n                move(m, z[m], -1.0, steps, size, N, T)\n"),
        "",
        ["tests/beliefs/tasks/test_hierarchical_mdp.py::test_draws_follow_the_enumerated_clusterings"],
    ),
    "a new class has weight one": (
        "prior = c[K] if j == new else size[j]",
        "prior = 1.0 if j == new else size[j]",
        ["tests/beliefs/tasks/test_hierarchical_mdp.py::test_draws_follow_the_enumerated_clusterings"],
    ),
    "every class has the same weight": (
        "prior = c[K] if j == new else size[j]",
        "prior = c[K] if j == new else min(size[j], 1.0)",
        ["tests/beliefs/tasks/test_hierarchical_mdp.py::test_tasks_without_data_follow_the_restaurant"],
    ),
    "the totals of rows are forgotten": (
        "gain += lgamma(steps.total[g] + T[g]) - lgamma(steps.total[g] + T[g] + more)",
        "gain += 0.0 * more",
        ["tests/beliefs/tasks/test_hierarchical_mdp.py::test_log_evidence_of_one_class_is_that_of_pooled_counts"],
    ),
    "a split is accepted without the probability of its proposal": (
        "log_ratio - log_q if a == b",
        "log_ratio if a == b",
        ["tests/beliefs/tasks/test_hierarchical_mdp.py::test_draws_follow_the_enumerated_clusterings"],
    ),
    "a split forgets the concentration": (
        "log_ratio = 0.0, np.log(c[K if a == b else K - 1])",
        "log_ratio = 0.0, 0.0",
        ["tests/beliefs/tasks/test_hierarchical_mdp.py::test_draws_follow_the_enumerated_clusterings"],
    ),
    "the mean of an unknown concentration given the wrong number of classes": (
        "prior = c[K] if j == new",
        "prior = c[K - 1] if j == new",
        ["tests/beliefs/tasks/test_learnt_concentration.py::test_draws_follow_the_enumerated_clusterings[4]"],
    ),
    "a merge with the unknown concentration of a split": (
        "np.log(c[K if a == b else K - 1])",
        "np.log(c[K])",
        ["tests/beliefs/tasks/test_learnt_concentration.py::test_draws_follow_the_enumerated_clusterings[4]"],
    ),
    "classes outgrow their arrays": (
        "J += 1\n",
        "J += 0\n",
        ["tests/beliefs/tasks/test_hierarchical_mdp.py::test_many_classes"],
    ),
}
