"""Planted bugs of bayesrl.risk.measure."""

MODULE = "bayesrl.risk.measure"
PLANTED = {
    "returns in the order of the models": (
        'order = np.argsort(v, kind="stable")',
        "order = np.arange(len(v))",
        ["tests/risk/test_measure.py::test_values_by_hand"],
    ),
    "weights in the order of the models": (
        "below = np.cumsum(w[order])",
        "below = np.cumsum(w)",
        ["tests/risk/test_measure.py::test_values_by_hand"],
    ),
    "k of n counts n draws beside the one": (
        "bdtr(self.k - 1, self.n - 1, x)",
        "bdtr(self.k - 1, self.n, x)",
        ["tests/risk/test_measure.py::test_reference_values_of_the_density"],
    ),
    "the best k of n": (
        "self.n / self.k * bdtr(self.k - 1, self.n - 1, x)",
        "self.n / self.k * bdtr(self.k - 1, self.n - 1, 1.0 - x)",
        ["tests/risk/test_measure.py::test_reference_values_of_the_density"],
    ),
    "the tail of k of n is forgotten": (
        "x * self.density(x) + bdtrc(self.k, self.n, x)",
        "x * self.density(x)",
        ["tests/risk/test_measure.py::test_k_of_n_is_the_mean_of_the_worst_of_enumerated_draws"],
    ),
    "increasing densities are accepted": (
        "np.diff(y) > TOLERANCE",
        "np.diff(y) > 1e9",
        ["tests/risk/test_measure.py::test_refused"],
    ),
}
