"""Planted bugs of bayesrl.kernels.retirement."""

MODULE = "bayesrl.kernels.retirement"
PLANTED = {
    "discount forgotten where rows are skipped": (
        "(gamma * q) ** j",
        "q**j",
        ["tests/bandits/test_gittins.py::test_the_kernel_against_the_whole_lattice[0.97-0.0-False]"],
    ),
}
