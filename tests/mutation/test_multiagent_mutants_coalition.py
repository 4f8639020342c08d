"""Planted bugs in coalition formation; see test_mutants.py."""

import pytest

TESTS, FORM = (f"tests/multiagent/test_{name}.py::" for name in ("coalition_formation", "formation"))
BELIEF, AGENT, PROCESS = (
    "bayesrl.beliefs._coalitions",
    "bayesrl.multiagent.coalition_formation",
    "bayesrl.multiagent._formation",
)

MUTANTS = {
    # name: (module, old, new, tests)
    "factored type beliefs": (
        BELIEF, "return unchecked(self, joint=frozen(weight / total))",
        "new = unchecked(self, joint=frozen(weight / total))\n        rows = [new.marginal(i) for i in range(weight.ndim)]\n"
        "        return TypeBelief.independent(self.problem, rows)",
        [TESTS + "test_types_become_dependent"]),
    "the payoff is not shared": (
        BELIEF, "share = self.rewards[None] / sizes[:, None, None]", "share = self.rewards[None] + 0.0 * sizes[:, None, None]",
        [TESTS + "test_values_equal_enumeration"]),
    "look-ahead forgets what it learned": (
        AGENT, 'after = np.einsum("n,mno->mon", b[i], problem.laws)',
        'after = np.einsum("mo,n->mon", np.einsum("n,mno->mo", b[i], problem.laws), b[i])',
        [TESTS + "test_lookahead_equals_expectimax_in_fractions"]),
    "vpi is not added": (
        AGENT, 'score = q + vpi if self.choose == "vpi" else q', "score = q", [TESTS + "test_values_equal_enumeration"]),
    "the others are not asked": (
        PROCESS, " and _accepted(state, worth, x, i)]", "]",
        [FORM + "test_replies_are_the_best_accepted_ones"]),
}  # fmt: skip


@pytest.mark.parametrize("name", MUTANTS)
def test_mutant_is_caught(name, assert_caught):
    assert_caught(name, *MUTANTS[name])
