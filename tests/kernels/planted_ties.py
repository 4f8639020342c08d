"""Planted bugs of bayesrl.kernels.ties."""

MODULE = "bayesrl.kernels.ties"
PLANTED = {
    "tie rule": (
        "            if n == 0:\n",
        "            if n >= 0:\n",
        ["tests/bamdp/test_planners.py::test_ties"],
    ),
}
