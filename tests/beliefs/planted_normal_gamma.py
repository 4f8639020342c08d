"""Planted bugs of bayesrl.beliefs.normal_gamma."""

MODULE = "bayesrl.beliefs.normal_gamma"
PLANTED = {
    "draws of a mean ignore how much is behind it": (
        "np.sqrt(cells.strength * tau)",
        "np.sqrt(tau)",
        ["tests/bamdp/baselines/test_bayesian_q_learning.py::test_visits_narrow_what_is_drawn"],
    ),
    "the survey's misprinted normal posterior": (
        "0.5 * strength * delta * step",
        "0.5 * delta * delta",
        ["tests/beliefs/test_laws.py::test_belief_laws[reward-normal]"],
    ),
    "the prior mean ignored": (
        "delta / (strength + 1.0)",
        "delta / strength",
        ["tests/beliefs/test_laws.py::test_belief_laws[reward-normal]"],
    ),
}
