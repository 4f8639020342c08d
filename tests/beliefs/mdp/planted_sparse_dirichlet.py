"""Planted bugs of bayesrl.beliefs.mdp.sparse_dirichlet."""

MODULE = "bayesrl.beliefs.mdp.sparse_dirichlet"
PLANTED = {
    "the prior's counts of a sparse row are left out": (
        "x.expected(lambda k, N: N + a * k)",
        "x.N",
        ["tests/beliefs/test_laws.py::test_belief_laws[sparse-dirichlet]"],
    ),
    "a sparse row counts every conceivable outcome": (
        "x.expected(lambda k, N: N + a * k)",
        "x.N + a * x.size",
        ["tests/beliefs/test_laws.py::test_belief_laws[sparse-dirichlet]"],
    ),
    "two unseen outcomes are in the support independently": (
        "np.maximum(x.sizes - k0 - i, 0) / np.maximum(L - k0 - i, 1)",
        "np.maximum(x.sizes - k0, 0) / np.maximum(L - k0, 1)",
        ["tests/beliefs/mdp/test_sparse_dirichlet.py::test_covariance_against_enumerated_supports[seen1]"],
    ),
    "a drawn support is all outcomes": (
        "rank < k[:, None]",
        "rank < self.outcomes.size[:, None]",
        ["tests/beliefs/mdp/test_sparse_dirichlet.py::test_mean_of_sampled_models"],
    ),
}
