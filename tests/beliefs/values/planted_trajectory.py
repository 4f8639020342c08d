"""Planted bugs of bayesrl.beliefs.values.trajectory."""

MODULE = "bayesrl.beliefs.values.trajectory"
PLANTED = {
    "a tie is carried over a reset": (
        ("            tail = None\n            close(False, True)"),
        "            close(False, True)",
        ["tests/beliefs/values/test_gptd.py::test_equal_to_dense_conditioning"],
    ),
}
