"""Planted bugs of bayesrl.bamdp.optimism._optimistic_state."""

MODULE = "bayesrl.bamdp.optimism._optimistic_state"
PLANTED = {
    "R-max's absorbing state pays but once": (
        ") / (1.0 - belief.gamma))",
        "))",
        ["tests/bamdp/optimism/test_unvisited.py::test_rmax_equals_its_transcription[mdp1-None]"],
    ),
    "an untried pair is followed by what the model says": (
        "np.where(untried.reshape(-1, 1), 0.0, m.matrix)",
        "m.matrix",
        ["tests/bamdp/optimism/test_unvisited.py::test_the_absorbing_state_need_not_be_listed[flat]"],
    ),
    "the rows of untried pairs are not empty": (
        "np.where(untried, np.int32(len(m.size)), m.group)",
        "m.group",
        ["tests/bamdp/optimism/test_unvisited.py::test_the_absorbing_state_need_not_be_listed[lists]"],
    ),
    "values are shifted as if untried pairs did not end": (
        "m.r)), shiftable=False)",
        "m.r)))",
        ["tests/bamdp/optimism/test_unvisited.py::test_values_are_not_shifted_where_pairs_end"],
    ),
}
