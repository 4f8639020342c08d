"""Planted bugs of bayesrl.beliefs.values.gptd_deterministic."""

MODULE = "bayesrl.beliefs.values.gptd_deterministic"
PLANTED = {
    "noise of deterministic transitions is tied": (
        "        return 0.0\n",
        "        return -self.gamma * variance\n",
        ["tests/beliefs/values/test_gptd.py::test_equal_to_dense_conditioning"],
    ),
}
