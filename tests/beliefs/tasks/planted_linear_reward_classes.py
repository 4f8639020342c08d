"""Planted bugs of bayesrl.beliefs.tasks.linear_reward_classes."""

MODULE = "bayesrl.beliefs.tasks.linear_reward_classes"
PLANTED = {
    "weights of a task are not taken out of its class": (
        "others = np.where(np.arange(len(z)) == m, -1, z)",
        "others = z",
        ["tests/beliefs/tasks/test_linear_reward_classes.py::test_a_task_moves_by_its_conditional_distribution"],
    ),
    "a new class of weights has another number of others": (
        "weight_of_new(self.concentration, len(names), len(z))",
        "weight_of_new(self.concentration, len(names) + 1, len(z))",
        ["tests/beliefs/tasks/test_linear_reward_classes.py::test_a_learnt_concentration"],
    ),
    "the class of a further task ignores its rewards": (
        "+ log_partition(P + precision[M], eta + shift[M]) - log_partition(P, eta)",
        "",
        ["tests/beliefs/tasks/test_linear_reward_classes.py::test_the_next_task_with_data_of_its_own"],
    ),
    "two kinds of weights stay in one class": (
        "if len(z) > 1:",
        "if len(z) > 99:",
        ["tests/beliefs/tasks/test_linear_reward_classes.py::test_two_kinds_leave_one_class"],
    ),
    "weights of a task forget its own rewards": (
        "return keep @ (phi + C @ b)",
        "return keep @ (phi + 0.0 * C @ b)",
        ["tests/beliefs/tasks/test_linear_reward_classes.py::test_draws_follow_the_enumerated_clusterings[4]"],
    ),
    "the noise for its variance": (
        "np.outer(x, x) / self.noise**2",
        "np.outer(x, x) / self.noise",
        ["tests/beliefs/tasks/test_linear_reward_classes.py::test_draws_follow_the_enumerated_clusterings[4]"],
    ),
    "each refresh begins a new chain": (
        "z, told = np.array(self.labels),",
        "z, told = np.full(self.n_tasks, -1),",
        ["tests/beliefs/test_plumbing.py::test_a_chain_goes_on[linear reward classes]"],
    ),
}
