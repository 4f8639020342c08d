"""Planted bugs of bayesrl.beliefs.pomdp.policy_prior."""

MODULE = "bayesrl.beliefs.pomdp.policy_prior"
PLANTED = {
    "actions and observations not exchanged": (
        "(o, 0, a, 0, 0)",
        "(a, 0, o, 0, 0)",
        ["tests/beliefs/pomdp/test_policy_prior.py::test_filter_and_weights_between_sweeps"],
    ),
    "the next action of any chain": (
        "np.asarray(weights(self.data) @ [",
        "np.asarray(np.full(self.chains, 1.0 / self.chains) @ [",
        ["tests/beliefs/pomdp/test_policy_prior.py::test_filter_and_weights_between_sweeps"],
    ),
    "the next action of a new sequence": (
        "now @ model.before[:, 0]",
        "model.beta @ model.before[:, 0]",
        ["tests/beliefs/pomdp/test_policy_prior.py::test_filter_and_weights_between_sweeps"],
    ),
    "controllers of any chain": (
        "rng.choice(self.chains, p=weights(self.data))",
        "rng.choice(self.chains)",
        ["tests/beliefs/pomdp/test_policy_prior.py::test_controllers_are_drawn_by_weight"],
    ),
    "temperature inverted": (
        "(v - v.max(initial=-np.inf)) / t",
        "(v - v.max(initial=-np.inf)) * min(t, 9.0)",
        ["tests/beliefs/pomdp/test_policy_prior.py::test_joint_posterior"],
    ),
    "the likelihood of models dropped": (
        "(m - m.max())[:, None]",
        "0.0 * m[:, None]",
        ["tests/beliefs/pomdp/test_policy_prior.py::test_joint_posterior"],
    ),
    "the likelihood of policies dropped": (
        "(p - p.max())",
        "0.0 * p",
        ["tests/beliefs/pomdp/test_policy_prior.py::test_joint_posterior"],
    ),
}
