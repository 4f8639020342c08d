"""Planted bugs of bayesrl.beliefs.rewards.demonstrations."""

MODULE = "bayesrl.beliefs.rewards.demonstrations"
PLANTED = {
    "the exact likelihood is not normalised": (
        (
            "    z -= z.max(axis=-1, keepdims=True)\n"
            "    return np.asarray(z - np.log(np.exp(z).sum(axis=-1, keepdims=True)))"
        ),
        "    return z",
        ["tests/beliefs/rewards/test_birl.py::test_likelihood_is_invariant"],
    ),
}
