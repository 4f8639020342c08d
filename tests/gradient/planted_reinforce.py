"""Planted bugs of bayesrl.gradient.reinforce."""

MODULE = "bayesrl.gradient.reinforce"
PLANTED = {
    "the baseline is subtracted from scores": (
        "(rho - (rho.mean() if baseline else 0.0)) @ U / len(rho)",
        "rho @ (U - (U.mean(axis=0) + 1.0 if baseline else 0.0)) / len(rho)",
        ["tests/gradient/test_baselines.py::test_reinforce_by_hand"],
    ),
}
