"""Planted bugs of bayesrl.models.pomdp_solvers._pruning."""

MODULE = "bayesrl.models.pomdp_solvers._pruning"
PLANTED = {
    "programs are counted, not their entries": (
        ("            left[0] -= changed\n            if"),
        ("            left[0] -= 1\n            if"),
        ["tests/models/pomdp_solvers/test_pomdp_value_iteration.py::test_programs_are_counted"],
    ),
    "domination the wrong way round": (
        "d = vectors[j, s] - vectors[i, s]",
        "d = vectors[i, s] - vectors[j, s]",
        ["tests/models/pomdp_solvers/test_pomdp_value_iteration.py::test_equal_to_expectimax[shape1-5]"],
    ),
    "no program after the corners": (
        ("            if high <= slack:\n                state[i] = OUT\n            elif low > 0.0:"),
        ("            if True:\n                state[i] = OUT\n            elif low > 0.0:"),
        ["tests/models/pomdp_solvers/test_pomdp_value_iteration.py::test_pruning_loses_nothing[3]"],
    ),
    "what came in early stays in": (
        ("                if high > slack:\n                    state[i], witness[i] = IN, b\n"),
        "                state[i], witness[i] = IN, b\n",
        ["tests/models/pomdp_solvers/test_pomdp_value_iteration.py::test_a_tie_at_a_witness_keeps_nothing_superfluous"],
    ),
    "an envelope that keeps lines below it": (
        "if not (above or (n > 1 and excess(y, vectors[kept[n - 2]], x) <= slack)):",
        "if not above:",
        ["tests/models/pomdp_solvers/test_pomdp_value_iteration.py::test_parsimonious"],
    ),
    "an envelope without its middle": (
        "excess(y, vectors[kept[n - 2]], x) <= slack",
        "excess(y, vectors[kept[n - 2]], x) > slack",
        ["tests/models/pomdp_solvers/test_pomdp_value_iteration.py::test_tiger"],
    ),
    "weights of a game taken for the belief": (
        "        b[s] = max(table[S, n + s], 0.0)",
        "        b[s] = max(table[s, n + S], 0.0)",
        ["tests/models/pomdp_solvers/test_pomdp_value_iteration.py::test_games"],
    ),
}
