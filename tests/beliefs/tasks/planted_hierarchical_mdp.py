"""Planted bugs of bayesrl.beliefs.tasks.hierarchical_mdp."""

MODULE = "bayesrl.beliefs.tasks.hierarchical_mdp"
PLANTED = {
    "the next task has the concentration of one task fewer": (
        "cluster_counts(z), M + 1)",
        "cluster_counts(z), M)",
        ["tests/beliefs/tasks/test_learnt_concentration.py::test_unrelated_tasks_make_it_large_and_related_ones_small"],
    ),
    "a class has the counts of all tasks": (
        "[self.data[m] for m in np.flatnonzero(members)]",
        "list(self.data)",
        ["tests/beliefs/tasks/test_hierarchical_mdp.py::test_concentration_pools_and_separates"],
    ),
    "the next task is of a known class": (
        "n * x / (M + x)",
        "n * 0.0 / (M + x)",
        ["tests/beliefs/tasks/test_hierarchical_mdp.py::test_concentration_pools_and_separates"],
    ),
    "classes of different sizes are as probable for the next task": (
        "(labels == j, (labels == j).sum() / (M + c[i]))",
        "(labels == j, 1.0 / (M + c[i]))",
        ["tests/beliefs/tasks/test_hierarchical_mdp.py::test_tasks_are_mixtures_over_the_clusterings"],
    ),
    "an update keeps the draws of the posterior before": (
        "labels=frozen(labels), assignments=none)",
        "labels=frozen(labels), assignments=self.assignments)",
        ["tests/beliefs/tasks/test_hierarchical_mdp.py::test_only_counts_matter"],
    ),
    "all steps are the first task's": (
        'm = integer("HierarchicalMDP.update", "task", datum.task, 0, MOST_TASKS - 1)',
        "m = 0",
        ["tests/beliefs/tasks/test_hierarchical_mdp.py::test_tasks_without_data_follow_the_restaurant"],
    ),
    "each refresh begins a new chain": (
        "gibbs(rng, np.array(self.labels), self",
        "gibbs(rng, np.full(self.n_tasks, -1), self",
        ["tests/beliefs/test_plumbing.py::test_a_chain_goes_on[hierarchical-mdp]"],
    ),
}
