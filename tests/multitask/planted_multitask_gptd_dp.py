"""Planted bugs of bayesrl.multitask.multitask_gptd_dp."""

MODULE = "bayesrl.multitask.multitask_gptd_dp"
PLANTED = {
    "a further task joins old classes only": (
        "np.append(np.bincount(z), new)",
        "np.append(np.bincount(z), 1e-9)",
        ["tests/multitask/test_multitask_gptd_dp.py::test_transfer_is_the_mixture_over_enumerated_partitions[c known]"],
    ),
    "classes of equal weight": (
        "np.append(np.bincount(z), new)",
        "np.append(np.bincount(z) > 0, new)",
        ["tests/multitask/test_multitask_gptd_dp.py::test_transfer_is_the_mixture_over_enumerated_partitions[c known]"],
    ),
}
