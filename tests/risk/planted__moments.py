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
    "mu for mu squared in the gradient": (
        "w_i * w_j * (d_b * back",
        "w_i * (d_b * back",
        ["tests/risk/test_percentile.py::test_gradient_equals_finite_differences[tied-1.3]"],
    ),
    "one side of a couple has no derivative": (
        " + summed(j, w[i] * each, S * A)",
        "",
        ["tests/risk/test_percentile.py::test_gradient_equals_finite_differences[tied-1.3]"],
    ),
    "the way back to a pair is held fixed": (
        "(w_i * w_j * d_b * h[j]).ravel()",
        "(0.0 * w_i * w_j * d_b * h[j]).ravel()",
        ["tests/risk/test_percentile.py::test_gradient_equals_finite_differences[tied-1.3]"],
    ),
    "visits are held fixed": (
        "np.outer(m.start, m.gamma * b + 2.0 * d_D * (C @ o))",
        "np.outer(m.start, 2.0 * d_D * (C @ o))",
        ["tests/risk/test_percentile.py::test_gradient_equals_finite_differences[tied-1.3]"],
    ),
    "the bias is not discounted": (
        "m.start @ e.V + m.gamma * (o @ e.b)",
        "m.start @ e.V + o @ e.b",
        ["tests/risk/test_percentile.py::test_criterion_equals_its_transcription[tied-0.0]"],
    ),
}
