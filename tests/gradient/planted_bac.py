"""Planted bugs of bayesrl.gradient.bac."""

MODULE = "bayesrl.gradient.bac"
PLANTED = {
    "the critic continues at an end": (
        '        v, c = noise_of_rows(deviations("bac", noise, states) ** 2, m, gamma, fresh=True)',
        "        v, c = noise_of_rows(np.full(m + 1, noise**2), m, gamma, fresh=True)",
        ["tests/gradient/test_bac.py::test_equal_to_dense_conditioning[0.99-discrete-terminated]"],
    ),
    "the critic's noise is not tied": (
        "np.diag(v) - np.diag(c[1:], 1) - np.diag(c[1:], -1)",
        "np.diag(v)",
        ["tests/gradient/test_bac.py::test_calibrated[exact]"],
    ),
    "the tie is carried over a reset": (
        "len(rewards), gamma, fresh=True)",
        "len(rewards), gamma, fresh=False)",
        ["tests/gradient/test_bac.py::test_threshold_zero_is_the_full_posterior[terminated]"],
    ),
    "the critic's covariance lacks its data term": (
        "np.eye(Q.shape[1]) - Q.T @ Q",
        "np.eye(Q.shape[1])",
        ["tests/gradient/test_bac.py::test_calibrated[exact]"],
    ),
    "the sparse critic's covariance lacks what was left out": (
        "np.eye(T.shape[1]) - T.T @ T + T.T @ weights.P @ T",
        "T.T @ weights.P @ T",
        ["tests/gradient/test_bac.py::test_a_threshold_leaves_pairs_out"],
    ),
}
