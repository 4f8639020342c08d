"""Planted bugs of bayesrl.multitask._class_sampler."""

MODULE = "bayesrl.multitask._class_sampler"
PLANTED = {
    "a task counts itself in its class": (
        ("weight = x.size[k]\n            if weight == 0.0 and not new_one:"),
        ("weight = x.size[k] + (x.z[m] == k)\n            if weight == 0.0 and not new_one:"),
        ["tests/multitask/test_multitask_gptd_dp.py::test_equal_to_enumerated_partitions[15 partitions]"],
    ),
    "a task is not removed from its class": (
        ("own = x.z[m]\n        x.size[own] -= 1.0"),
        ("own = x.z[m]\n        x.size[own] -= 0.0"),
        ["tests/multitask/test_multitask_gptd_dp.py::test_equal_to_enumerated_partitions[15 partitions]"],
    ),
    "a task's weights vote for their own class": (
        "n = learned(p, w, z, k, m, mean, scatter)",
        "n = learned(p, w, z, k, len(z), mean, scatter)",
        ["tests/multitask/test_multitask_gptd_dp.py::test_equal_to_enumerated_partitions[15 partitions]"],
    ),
    "each auxiliary class has the whole concentration": (
        ("p.Psi, x.mu[k], x.S[k])\n                    weight = c / p.a"),
        ("p.Psi, x.mu[k], x.S[k])\n                    weight = c"),
        ["tests/multitask/test_multitask_gptd_dp.py::test_equal_to_enumerated_partitions[15 partitions]"],
    ),
    "a merge with the unknown concentration of a split": (
        "p.c[in_use(x) - (one != other)]",
        "p.c[in_use(x)]",
        ["tests/multitask/test_multitask_gptd_dp.py::test_equal_to_enumerated_partitions[c unknown]"],
    ),
    "a split forgets how it was proposed": (
        "- log_whole - log_q",
        "- log_whole",
        ["tests/multitask/test_multitask_gptd_dp.py::test_splits_and_merges_alone_keep_the_law_of_partitions"],
    ),
}
