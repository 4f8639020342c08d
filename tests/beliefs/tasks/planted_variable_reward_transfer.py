"""Planted bugs of bayesrl.beliefs.tasks.variable_reward_transfer."""

MODULE = "bayesrl.beliefs.tasks.variable_reward_transfer"
PLANTED = {
    "every policy is kept": (
        "max(axis=0)).max() > self.tolerance",
        "max(axis=0)).max() > -1.0",
        ["tests/beliefs/tasks/test_variable_reward_transfer.py::test_a_complete_cache_solves_every_task"],
    ),
    "the best policy of the first state is taken everywhere": (
        'return frozen(self._cached("VariableReward.value", w).max(axis=0))',
        (
            'cached = self._cached("VariableReward.value", w)\n'
            "        return frozen(cached[np.argmax(cached[:, 0])].copy())"
        ),
        ["tests/beliefs/tasks/test_variable_reward_transfer.py::test_the_cache_against_enumerated_policies"],
    ),
    "solved as soon as no action is better for U": (
        "solved = n > 0 or (known and bool((kept - gain @ w <= vectors @ w + slack).all()))",
        "solved = n > 0 or known",
        [
            "tests/beliefs/tasks/test_variable_reward_transfer.py::test_the_cache_against_enumerated_policies",
            "tests/beliefs/tasks/test_variable_reward_transfer.py::test_values_of_mixed_policies_are_improved",
        ],
    ),
    "the bias is not normalised": (
        "        h[-1] = 0.0\n",
        "",
        ["tests/beliefs/tasks/test_variable_reward_transfer.py::test_average_reward"],
    ),
}
