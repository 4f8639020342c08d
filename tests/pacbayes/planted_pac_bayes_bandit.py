"""Planted bugs of bayesrl.pacbayes.pac_bayes_bandit."""

MODULE = "bayesrl.pacbayes.pac_bayes_bandit"
PLANTED = {
    "KL forgotten for bandits": (
        "(kl + sure) / lam",
        "sure / lam",
        ["tests/pacbayes/test_bounds.py::test_bandit_bound_by_hand"],
    ),
    "lambda beyond epsilon": (
        "lam = min(eps, sqrt((log(K) + sure) * eps / ((e - 2.0) * t)))",
        "lam = sqrt((log(K) + sure) * eps / ((e - 2.0) * t))",
        ["tests/pacbayes/test_bounds.py::test_bandit_bound_by_hand"],
    ),
}
