"""Planted bugs of bayesrl.beliefs.values.gptd."""

MODULE = "bayesrl.beliefs.values.gptd"
PLANTED = {
    "the continuing matrix at an end": (
        "after = np.append(variances, 0.0)[1 : rows + 1]",
        "after = np.append(variances, variances[-1:])[1 : rows + 1]",
        ["tests/beliefs/values/test_gptd.py::test_equal_to_dense_conditioning"],
    ),
    "the row of an end has a successor": (
        ("        if terminated:\n            weight"),
        ("        if False:\n            weight"),
        ["tests/beliefs/values/test_gptd.py::test_equal_to_dense_conditioning"],
    ),
    "the tie is dropped at an end": (
        "0.0 if fresh else self.tie(",
        "0.0 if fresh or terminated else self.tie(",
        ["tests/beliefs/values/test_gptd.py::test_equal_to_dense_conditioning"],
    ),
    "the tie has the wrong sign": (
        "        return -self.gamma * variance",
        "        return self.gamma * variance",
        ["tests/beliefs/values/test_gptd.py::test_equal_to_dense_conditioning"],
    ),
    "ties inside a stretch are left out": (
        "beside = -self.gamma * variances[1:rows]",
        "beside = 0.0 * variances[1:rows]",
        ["tests/beliefs/values/test_gptd.py::test_equal_to_dense_conditioning"],
    ),
    "the variance for the standard deviation": (
        "deviations(owner, self.noise, states) ** 2",
        "deviations(owner, self.noise, states)",
        ["tests/beliefs/values/test_gptd.py::test_equal_to_dense_conditioning"],
    ),
}
