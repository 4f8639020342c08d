"""Planted bugs in variable-reward transfer; see test_mutants.py."""

import pytest

TESTS = "tests/multitask/test_variable_reward_transfer.py::"
HOME = "bayesrl.multitask.variable_reward_transfer"

MUTANTS = {
    # name: (module, old, new, tests)
    "every policy is kept": (
        HOME, "max(axis=0)).max() > self.tolerance", "max(axis=0)).max() > -1.0",
        [TESTS + "test_a_complete_cache_solves_every_task"]),
    "the best policy of the first state is taken everywhere": (
        HOME, "return frozen(self._cached(\"VariableReward.value\", w).max(axis=0))",
        "cached = self._cached(\"VariableReward.value\", w)\n        return frozen(cached[np.argmax(cached[:, 0])].copy())",
        [TESTS + "test_the_cache_against_enumerated_policies"]),
    "solved as soon as no action is better for U": (
        HOME, "solved = n > 0 or (known and bool((kept - gain @ w <= vectors @ w + slack).all()))", "solved = n > 0 or known",
        [TESTS + "test_the_cache_against_enumerated_policies", TESTS + "test_values_of_mixed_policies_are_improved"]),
    "the bias is not normalised": (
        HOME, "        h[-1] = 0.0\n", "", [TESTS + "test_average_reward"]),
}  # fmt: skip


@pytest.mark.parametrize("name", MUTANTS)
def test_mutant_is_caught(name, assert_caught):
    assert_caught(name, *MUTANTS[name])
