"""Planted bugs of bayesrl.bamdp.sampling.tsmdp."""

MODULE = "bayesrl.bamdp.sampling.tsmdp"
PLANTED = {
    "a model at every step": (
        "if memory is None or here == self.reference:",
        "if True:",
        ["tests/bamdp/sampling/test_tsmdp.py::test_expected_reward_equals_enumeration[0]"],
    ),
    "one model for ever": (
        "if memory is None or here == self.reference:",
        "if memory is None:",
        ["tests/bamdp/sampling/test_tsmdp.py::test_expected_reward_equals_enumeration[1]"],
    ),
    "an epoch that begins a step late": (
        "here == self.reference:",
        "(last is not None and last.state == self.reference):",
        ["tests/bamdp/sampling/test_tsmdp.py::test_one_policy_for_each_epoch"],
    ),
    "relative values without the bias": (
        "q = model.mean_reward + (",
        "q = model.mean_reward + 0.0 * (",
        ["tests/bamdp/sampling/test_tsmdp.py::test_values_are_those_of_the_drawn_model"],
    ),
}
