"""Planted bugs of bayesrl.multiagent.coalition_formation."""

MODULE = "bayesrl.multiagent.coalition_formation"
PLANTED = {
    "look-ahead forgets what it learned": (
        'after = np.einsum("n,mno->mon", b[i], problem.laws)',
        'after = np.einsum("mo,n->mon", np.einsum("n,mno->mo", b[i], problem.laws), b[i])',
        ["tests/multiagent/test_coalition_formation.py::test_lookahead_equals_expectimax_in_fractions"],
    ),
    "vpi is not added": (
        'score = q + vpi if self.choose == "vpi" else q',
        "score = q",
        ["tests/multiagent/test_coalition_formation.py::test_values_equal_enumeration"],
    ),
}
