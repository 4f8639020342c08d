"""Planted bugs of bayesrl.models.pomdp_solvers.alpha_vectors."""

MODULE = "bayesrl.models.pomdp_solvers.alpha_vectors"
PLANTED = {
    "the first vector is no lower bound": (
        "alpha[~ends] = worst / (1.0 - pomdp.gamma)",
        "alpha[~ends] = 0.0 * worst",
        ["tests/models/pomdp_solvers/test_point_based.py::test_the_first_vector_is_a_lower_bound"],
    ),
    "the first vector where episodes end and rewards are positive": (
        "np.inf if not ends.any() else 0.0",
        "np.inf",
        ["tests/models/pomdp_solvers/test_point_based.py::test_the_first_vector_is_a_lower_bound"],
    ),
    "the vector's own action instead of the best one ahead": (
        "return Decision(first_best(q, self._size), None",
        "return Decision(self.action(b), None",
        ["tests/models/pomdp_solvers/test_alpha_vectors.py::test_a_step_ahead_is_better_than_the_vectors"],
    ),
}
