"""Planted bugs of bayesrl.beliefs.games._belief_tree."""

MODULE = "bayesrl.beliefs.games._belief_tree"
PLANTED = {
    "the tree does not learn the other's strategy": (
        "played[same, j[same] % B] += 1.0",
        "pass",
        ["tests/multiagent/test_bayesian_marl.py::test_lookahead_in_exact_arithmetic"],
    ),
    "the tree does not learn rewards": (
        "paid[here, j[here], v[here]] += 1.0",
        "pass",
        ["tests/multiagent/test_bayesian_marl.py::test_lookahead_in_exact_arithmetic"],
    ),
    "the tree does not learn transitions": (
        "moved[here, j[here], y[here]] += 1.0",
        "pass",
        ["tests/beliefs/games/test_stochastic_games.py::test_lookahead_equals_the_recursion"],
    ),
    "counts of another state": (
        "here = np.flatnonzero(where // (C // S) == s)",
        "here = np.arange(n)",
        ["tests/beliefs/games/test_stochastic_games.py::test_lookahead_equals_the_recursion"],
    ),
    "the other's counts of another context": (
        "same: Bools = where == c",
        "same: Bools = where // (C // S) == s",
        ["tests/beliefs/games/test_stochastic_games.py::test_lookahead_equals_the_recursion"],
    ),
    "beliefs with different histories are merged": (
        "np.unique(np.column_stack([after, beyond])",
        "np.unique(np.column_stack([after * 0, beyond])",
        ["tests/multiagent/test_bayesian_marl.py::test_lookahead_in_exact_arithmetic"],
    ),
    "leaves of the prior": (
        ("    if u.moves_learn:\n        np.add.at(moves, (i, s, j, y), 1.0)\n"),
        "",
        ["tests/beliefs/games/test_stochastic_games.py::test_lookahead_equals_the_recursion"],
    ),
    "lookahead is discounted twice": (
        "later = u.gamma * v[",
        "later = u.gamma**2 * v[",
        ["tests/beliefs/games/test_stochastic_games.py::test_lookahead_equals_the_recursion"],
    ),
}
