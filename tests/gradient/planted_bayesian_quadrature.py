"""Planted bugs of bayesrl.gradient.bayesian_quadrature."""

MODULE = "bayesrl.gradient.bayesian_quadrature"
PLANTED = {
    "the box is not divided by its width": (
        "* scale / (self.high - self.low) * ends",
        "* scale * ends",
        ["tests/gradient/test_quadrature.py::test_integrals_of_the_covariance[uniform]"],
    ),
    "quadrature forgets the prior mean": (
        "float(f_0 + weights @ (y - f_0))",
        "float(weights @ y)",
        ["tests/gradient/test_quadrature.py::test_equal_to_dense_conditioning[0.4-1.5-gaussian]"],
    ),
}
