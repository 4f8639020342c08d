"""Planted bugs of bayesrl.bapomdp.answers."""

MODULE = "bayesrl.bapomdp.answers"
PLANTED = {
    "one best action for all models": (
        "values - values.max(axis=1, keepdims=True)",
        "values - values[:, (w @ values).argmax(), None]",
        ["tests/bapomdp/test_answers.py::test_bayes_risk_by_hand"],
    ),
    "risks are not weighted": (
        "w @ (values - values.max(axis=1, keepdims=True))",
        "(values - values.max(axis=1, keepdims=True)).mean(axis=0)",
        ["tests/bapomdp/test_answers.py::test_bayes_risk_by_hand"],
    ),
    "the likelihood of an answer is reversed": (
        "np.where(best == action, 1.0 - error, error / max(n_actions - 1, 1))",
        "np.where(best == action, error, (1.0 - error) / max(n_actions - 1, 1))",
        ["tests/bapomdp/test_answers.py::test_after_answer_by_hand"],
    ),
    "an erring oracle names all actions": (
        "error / max(n_actions - 1, 1)",
        "error / n_actions",
        ["tests/bapomdp/test_answers.py::test_after_answer_by_hand"],
    ),
    "a no is taken for a yes": (
        "np.where((best == action) == yes, 1.0 - error, error)",
        "np.where(best == action, 1.0 - error, error)",
        ["tests/bapomdp/test_answers.py::test_after_confirmation_by_hand"],
    ),
    "the price does not widen the range": (
        'least = min(low, -number(owner, "cost", cost, 0.0))',
        'least = min(low, number(owner, "cost", cost, 0.0))',
        ["tests/bapomdp/test_answers.py::test_risk_samples_by_hand"],
    ),
    "the number of models is rounded down": (
        "math.ceil(models)",
        "math.floor(models)",
        ["tests/bapomdp/test_answers.py::test_risk_samples_by_hand"],
    ),
}
