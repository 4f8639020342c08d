"""Planted bugs of bayesrl.bamdp.optimism.vbrb."""

MODULE = "bayesrl.bamdp.optimism.vbrb"
PLANTED = {
    "VBRB counts in variances": (
        "np.sqrt(variance_p)",
        "variance_p",
        ["tests/bamdp/optimism/test_optimism.py::test_vbrb_equals_its_transcription[flat]"],
    ),
}
