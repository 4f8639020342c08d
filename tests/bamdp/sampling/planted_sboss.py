"""Planted bugs of bayesrl.bamdp.sampling.sboss."""

MODULE = "bayesrl.bamdp.sampling.sboss"
PLANTED = {
    "SBOSS measures from the belief before": (
        "        here = memory.q[s]",
        ("        memory = memory._replace(then=moments_of(belief))\n        here = memory.q[s]"),
        ["tests/bamdp/sampling/test_boss.py::test_sboss_equals_its_transcription[tied]"],
    ),
    "SBOSS counts in variances": (
        "np.sqrt(belief.pair_variances())",
        "belief.pair_variances()",
        ["tests/bamdp/sampling/test_boss.py::test_sboss_equals_its_transcription[tied]"],
    ),
}
