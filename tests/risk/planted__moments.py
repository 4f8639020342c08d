"""Planted bugs of bayesrl.risk._moments."""

MODULE = "bayesrl.risk._moments"
PLANTED = {
    "mu for its square": (
        "ww = i // A, j // A, w[i] * w[j]",
        "ww = i // A, j // A, w[i]",
        ["tests/risk/test_value_moments.py::test_naive_transcription[one group for each pair]"],
    ),
    "ties are forgotten": (
        "first, second = couples(np.where(unknown, o.group, -1).ravel())",
        "first = second = np.flatnonzero(unknown)",
        ["tests/risk/test_value_moments.py::test_naive_transcription[tied]"],
    ),
    "B is dropped": (
        "(X[m.succ[i], y[:, None]] * h[j])",
        "(X[m.succ[i], y[:, None]] * np.einsum('nkl,nl->nk', m.covariance, q - m.reward)[j])",
        ["tests/risk/test_value_moments.py::test_naive_transcription[one group for each pair]"],
    ),
    "rewards of outcomes do not add to the covariance": (
        "(q[i] * h[j])",
        "((q - m.reward)[i] * h[j])",
        ["tests/risk/test_value_moments.py::test_naive_transcription[one group for each pair]"],
    ),
    "unknown rewards weigh by mu": (
        "(w**2 * m.reward_covariance)",
        "(w * m.reward_covariance)",
        ["tests/risk/test_value_moments.py::test_naive_transcription_with_unknown_rewards"],
    ),
    "rewards of outcomes weigh by p": (
        "o.of_pairs(mean.prob) ** 2",
        "o.of_pairs(mean.prob)",
        ["tests/risk/test_value_moments.py::test_naive_transcription_with_unknown_rewards"],
    ),
    "rewards of pairs are independent": (
        "C += (np.outer(w, w) * m.reward_covariance)",
        "C += (np.diag(w**2) * m.reward_covariance)",
        ["tests/risk/test_value_moments.py::test_naive_transcription_with_unknown_rewards"],
    ),
}
