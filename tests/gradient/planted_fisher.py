"""Planted bugs of bayesrl.gradient.fisher."""

MODULE = "bayesrl.gradient.fisher"
PLANTED = {
    "G of pairs is normalised": (
        "(U * weight[:, None]).T @ U / len(paths)",
        "(U * weight[:, None]).T @ U / weight.sum()",
        ["tests/gradient/test_fisher.py::test_pairs_are_not_normalised"],
    ),
    "the discount of pairs runs on over episodes": (
        "weight = np.concatenate([gamma ** np.arange(len(path.scores)) for path in paths])",
        "weight = gamma ** np.arange(len(U))",
        ["tests/gradient/test_fisher.py::test_several_episodes_are_averaged"],
    ),
    "paths are the sum of steps": (
        'if unit == "paths":',
        'if unit == "never":',
        ["tests/gradient/test_fisher.py::test_paths_are_whole"],
    ),
    "the model starts anywhere": (
        "start[state(path.steps[0].observation)] += 1.0 / len(paths)",
        "start += 1.0 / S / len(paths)",
        ["tests/gradient/test_fisher.py::test_the_model_is_summed_exactly"],
    ),
    "old information is never forgotten": (
        "decay * self.weight + 1.0",
        "self.weight + 1.0",
        ["tests/gradient/test_fisher.py::test_a_running_mean_weighs_old_estimates_less"],
    ),
}
