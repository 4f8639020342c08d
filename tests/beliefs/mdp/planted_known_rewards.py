"""Planted bugs of bayesrl.beliefs.mdp.known_rewards."""

MODULE = "bayesrl.beliefs.mdp.known_rewards"
PLANTED = {
    "VBRB's covariance has no n + 1": (
        "np.maximum(c *",
        "np.maximum(c / (1.0 - c) *",
        ["tests/bamdp/optimism/test_optimism.py::test_vbrb_variances_are_the_dirichlets[flat]"],
    ),
    "known groups vary together": (
        "        covariance[known] = 0.0",
        "        pass",
        ["tests/beliefs/mdp/test_row_covariance.py::test_of_a_dirichlet"],
    ),
}
