"""Planted bugs of bayesrl.gradient.bayesian_gradient."""

MODULE = "bayesrl.gradient.bayesian_gradient"
PLANTED = {
    "n instead of the rank in b_0": (
        "1.0 + np.sum(X * X, axis=1), 1.0 + r",
        "1.0 + np.sum(X * X, axis=1), 2.0 + r",
        ["tests/gradient/test_bpg.py::test_the_integrals_of_both_models"],
    ),
    "the kernel of model 1 is not squared": (
        "(1.0 + X @ X.T) ** 2, sigma",
        "1.0 + X @ X.T, sigma",
        ["tests/gradient/test_bpg.py::test_equal_to_dense_conditioning[0.1-0.0-1-fewer than coordinates]"],
    ),
    "crossed monomials are not doubled": (
        "np.where(i == j, 1.0, np.sqrt(2.0))",
        "1.0",
        ["tests/gradient/test_bpg.py::test_equal_to_dense_conditioning[0.1-0.0-1-more]"],
    ),
    "the posterior covariance lacks its data term": (
        "sigma**2 * inverse.T @ inverse",
        "np.eye(r)",
        ["tests/gradient/test_bpg.py::test_model_2_is_calibrated"],
    ),
    "the variance of model 1 lacks its data term": (
        "left_out + sigma**2 * float(t @ t)",
        "b_0",
        ["tests/gradient/test_bpg.py::test_equal_to_dense_conditioning[0.1-0.0-1-more]"],
    ),
    "a variance is taken for a standard deviation": (
        "A = K + sigma**2 * np.eye(len(K))",
        "A = K + sigma * np.eye(len(K))",
        ["tests/gradient/test_bpg.py::test_the_published_bandit"],
    ),
    "what the dictionary leaves out is not counted": (
        "left_out = b_0 - float(beta @ beta)",
        "left_out = 0.0",
        ["tests/gradient/test_bpg.py::test_sparse_is_the_projected_model[1]"],
    ),
    "the offset is added": (
        "return U, rho - prior, sigma",
        "return U, rho + prior, sigma",
        ["tests/gradient/test_bpg.py::test_model_2_with_offset_is_below_the_baseline"],
    ),
    "the natural gradient is divided by G twice": (
        "frozen(self.root @ mean))",
        "frozen(self.root @ (self.root.T @ (self.root @ mean))))",
        ["tests/gradient/test_bpg.py::test_equal_to_dense_conditioning[0.1-0.0-2-more]"],
    ),
}
