"""Planted bugs of bayesrl.kernels.dynamic_programming.retirement."""

MODULE = "bayesrl.kernels.dynamic_programming.retirement"
PLANTED = {
    "discount forgotten where rows are skipped": (
        "(gamma * q) ** j",
        "q**j",
        ["tests/bandits/test_gittins.py::test_the_kernel_against_the_whole_lattice[0.97-0.0-False]"],
    ),
}
