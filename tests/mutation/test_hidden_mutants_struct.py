"""Planted bugs in structured priors and in what acts on them; see test_mutants.py."""

import pytest

TSMDP = "tests/bamdp/test_tsmdp.py::"

MUTANTS = {
    # name: (module, old, new, tests)
    "a model at every step": (
        "bayesrl.bamdp.sampling.tsmdp", "if memory is None or here == self.reference:", "if True:",
        [TSMDP + "test_expected_reward_equals_enumeration[0]"]),
    "one model for ever": (
        "bayesrl.bamdp.sampling.tsmdp", "if memory is None or here == self.reference:", "if memory is None:",
        [TSMDP + "test_expected_reward_equals_enumeration[1]"]),
    "an epoch that begins a step late": (
        "bayesrl.bamdp.sampling.tsmdp", "here == self.reference:",
        "(last is not None and last.state == self.reference):", [TSMDP + "test_one_policy_for_each_epoch"]),
    "relative values without the bias": (
        "bayesrl.bamdp.sampling.tsmdp", "q = model.mean_reward + (", "q = model.mean_reward + 0.0 * (",
        [TSMDP + "test_values_are_those_of_the_drawn_model"]),
}  # fmt: skip


@pytest.mark.parametrize("name", MUTANTS)
def test_planted_bug_is_caught(name, assert_caught):
    assert_caught(name, *MUTANTS[name])
