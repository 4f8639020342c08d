"""Planted bugs of bayesrl.beliefs.crp."""

MODULE = "bayesrl.beliefs.crp"
PLANTED = {
    "the concentration is not learnt": (
        "np.multiply.outer(clusters, np.log(c)) + special",
        "0.0 * np.multiply.outer(clusters, c) + special",
        ["tests/beliefs/tasks/test_learnt_concentration.py::test_the_weight_of_a_new_class"],
    ),
}
