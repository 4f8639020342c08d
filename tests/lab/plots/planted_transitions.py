"""Planted bugs of bayesrl.lab.plots.transitions."""

MODULE = "bayesrl.lab.plots.transitions"
PLANTED = {
    "probabilities of another group": (
        "enumerate(model.prob[model.group[s, a]])",
        "enumerate(model.prob[model.group[s, 0]])",
        ["tests/lab/test_taxonomy.py::test_each_action_has_its_own_probabilities"],
    ),
    "what happens after the end": (
        "        if not model.outcomes.terminal[s]\n",
        "",
        ["tests/lab/test_taxonomy.py::test_what_happens_after_the_end_is_not_drawn"],
    ),
    "large worlds": (
        "    if n > MOST:\n",
        "    if n > 10 * MOST:\n",
        ["tests/lab/test_taxonomy.py::test_the_chain_is_drawn"],
    ),
}
