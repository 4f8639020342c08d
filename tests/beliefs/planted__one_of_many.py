"""Planted bugs of bayesrl.beliefs._one_of_many."""

MODULE = "bayesrl.beliefs._one_of_many"
PLANTED = {
    "the prior weights are not used": (
        'set_(self, "log_joint", frozen(np.log(w)))',
        'set_(self, "log_joint", frozen(np.zeros(N) - np.log(N)))',
        ["tests/beliefs/pomdp/test_finite_pomdps.py::test_equals_the_sum_over_models_and_hidden_paths"],
    ),
}
