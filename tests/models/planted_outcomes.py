"""Planted bugs of bayesrl.models.outcomes."""

MODULE = "bayesrl.models.outcomes"
PLANTED = {
    "terminal states pay": (
        "np.where(pad | terminal[:, None, None], 0.0, reward)",
        "np.where(pad, 0.0, reward)",
        ["tests/models"],
    ),
    "every pair of a flat model has an urn of its own": (
        " and (self.group.ravel() == np.arange(S * A)).all())",
        ")",
        ["tests/bamdp/search/test_bamcp.py::test_pairs_of_a_flat_model_may_share_an_urn"],
    ),
    "flat outcomes forget the end": (
        'not in ("succ", "reward", "group", "size")]',
        'not in ("succ", "reward", "group", "size", "end")]',
        ["tests/models/test_derived.py::test_what_is_derived_keeps_the_rest_and_answers_as_made_anew[flat outcomes]"],
    ),
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
