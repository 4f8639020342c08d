"""Planted bugs of bayesrl.risk.value_moments."""

MODULE = "bayesrl.risk.value_moments"
PLANTED = {
    "the bias is not discounted": (
        "V + m.gamma * X @ b",
        "V + X @ b",
        ["tests/risk/test_value_moments.py::test_naive_transcription[one group for each pair]"],
    ),
    "one tail of the interval": (
        "ndtri(0.5 + 0.5 * level)",
        "ndtri(level)",
        ["tests/risk/test_value_samples.py::test_moments_interval_covers_at_its_rate"],
    ),
    "the variance for the deviation": (
        "math.sqrt(variance)",
        "variance",
        ["tests/risk/test_value_samples.py::test_moments_interval_covers_at_its_rate"],
    ),
    "moments of a policy that need not end": (
        "    if m.gamma == 1.0:\n",
        "    if m.gamma > 1.0:\n",
        ["tests/risk/test_undiscounted_risk.py::test_moments_ask_only_for_their_own_policy"],
    ),
}
