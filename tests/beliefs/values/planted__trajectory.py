"""Planted bugs of bayesrl.beliefs.values._trajectory."""

MODULE = "bayesrl.beliefs.values._trajectory"
PLANTED = {
    "a tie is carried over a reset": (
        ("            tail = None\n            close(False, True)"),
        "            close(False, True)",
        ["tests/beliefs/test_gptd.py::test_equal_to_dense_conditioning"],
    ),
}
