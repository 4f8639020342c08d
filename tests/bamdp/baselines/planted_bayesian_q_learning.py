"""Planted bugs of bayesrl.bamdp.baselines.bayesian_q_learning."""

MODULE = "bayesrl.bamdp.baselines.bayesian_q_learning"
PLANTED = {
    "the future is certain": (
        "mu * mu + (lam + 1.0) / lam * beta / (alpha - 1.0)",
        "mu * mu",
        ["tests/bamdp/baselines/test_bayesian_q_learning.py::test_moment_update_by_hand"],
    ),
    "the discount is not squared": (
        "gamma * gamma * second",
        "gamma * second",
        ["tests/bamdp/baselines/test_bayesian_q_learning.py::test_moment_update_by_hand"],
    ),
    "the mixture forgets its spread of means": (
        "1.0 / lam + weight @ ((mu - mean) ** 2 * alpha / beta)",
        "1.0 / lam",
        ["tests/bamdp/baselines/test_bayesian_q_learning.py::test_mixture_update_matches_monte_carlo"],
    ),
    "the end of an episode is no end": (
        "if y is None:",
        "if False:",
        ["tests/bamdp/baselines/test_bayesian_q_learning.py::test_learning_uses_the_seemingly_best_action_and_the_end"],
    ),
    "VPI of the best action is that of another": (
        "== first, -1.0, 1.0)",
        "== first, 1.0, 1.0)",
        ["tests/bamdp/baselines/test_bayesian_q_learning.py::test_vpi_matches_integration"],
    ),
}
