"""Planted bugs of bayesrl.pacbayes.pac_bayes_model."""

MODULE = "bayesrl.pacbayes.pac_bayes_model"
PLANTED = {
    "KL forgotten in the l1 form": (
        "sqrt((kl - log(delta)",
        "sqrt((0.0 - log(delta)",
        ["tests/pacbayes/test_bounds.py::test_model_bound_by_hand"],
    ),
    "no union over states": (
        "bound(kl, 2.0 * S,",
        "bound(kl, 2.0,",
        ["tests/pacbayes/test_bounds.py::test_model_bound_by_hand"],
    ),
    "one discount of the simulation lemma is lost": (
        "k = (1.0 - gamma) ** 2",
        "k = (1.0 - gamma)",
        ["tests/pacbayes/test_bounds.py::test_model_bound_by_hand"],
    ),
}
