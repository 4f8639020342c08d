"""Planted bugs of bayesrl.risk._second_order."""

MODULE = "bayesrl.risk._second_order"
PLANTED = {
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
