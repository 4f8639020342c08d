"""Planted bugs of bayesrl.beliefs.pomdp.infinite_pomdp."""

MODULE = "bayesrl.beliefs.pomdp.infinite_pomdp"
PLANTED = {
    "every reward the first": (
        "return int(found[0])",
        "return 0",
        ["tests/beliefs/pomdp/test_infinite_pomdp.py::test_filter_and_weights_between_sweeps"],
    ),
    "the observation before the step": (
        "now @ model.moves[:, a] @ model.after[:, a]",
        "now @ model.after[:, a]",
        ["tests/beliefs/pomdp/test_infinite_pomdp.py::test_filter_and_weights_between_sweeps"],
    ),
    "models of any chain": (
        "rng.choice(self.chains, p=weights(self.data))",
        "rng.choice(self.chains)",
        ["tests/beliefs/pomdp/test_infinite_pomdp.py::test_models_are_drawn_by_weight"],
    ),
    "a start that is the likeliest state": (
        "int(rng.choice(len(now), p=now))",
        "int(np.argmax(now))",
        ["tests/beliefs/pomdp/test_infinite_pomdp.py::test_models_are_drawn_by_weight"],
    ),
}
