"""Planted bugs of bayesrl.lab.explain."""

MODULE = "bayesrl.lab.explain"
PLANTED = {
    "a question about the hidden state": (
        "    if state is not None and is_hidden(place):\n",
        "    if False:\n",
        ["tests/cli/test_hidden.py::test_a_hidden_state_is_not_chosen"],
    ),
    "the states of an explanation are predictions": (
        "dict(zip(names, belief.states().tolist()",
        "dict(zip(names, belief.predictive(0).tolist()",
        ["tests/cli/test_hidden.py::test_a_belief_is_explained"],
    ),
    "an explanation after an end is of the episode before": (
        "return last.mind, last.observation",
        "return last.mind, last.transition.next_observation",
        ["tests/cli/test_explain.py::test_an_explained_decision_is_that_of_the_run[random-tiger-episodic]"],
    ),
}
