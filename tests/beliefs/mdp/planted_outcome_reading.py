"""Planted bugs of bayesrl.beliefs.mdp.outcome_reading."""

MODULE = "bayesrl.beliefs.mdp.outcome_reading"
PLANTED = {
    "an end in a state that goes on is dropped": (
        "    return outcomes.end\n",
        "    return y\n",
        ["tests/adapters/test_gymnasium.py::test_taxi_is_learnt_in_the_users_own_loop[flat]"],
    ),
    "s and s' swapped": (
        "operator.index(datum[0]), operator.index(datum[1]), operator.index(datum[3])",
        "operator.index(datum[3]), operator.index(datum[1]), operator.index(datum[0])",
        ["tests/beliefs/test_laws.py::test_belief_laws[dirichlet-mdp]"],
    ),
}
