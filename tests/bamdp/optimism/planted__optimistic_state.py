"""Planted bugs of bayesrl.bamdp.optimism._optimistic_state."""

MODULE = "bayesrl.bamdp.optimism._optimistic_state"
PLANTED = {
    "R-max's absorbing state pays but once": (
        "best / (1.0 - belief.gamma)",
        "best",
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
    "an episode has one step": (
        "min(longest_episode(model), LONGEST) if best > 0.0 else 1.0",
        "1.0",
        ["tests/bamdp/test_undiscounted.py::test_rmax_and_mbie_eb_are_enumerated[0-None]"],
    ),
    "a cost is paid in the longest episode": (
        " if best > 0.0 else 1.0",
        "",
        ["tests/bamdp/test_undiscounted.py::test_rmax_and_mbie_eb_are_enumerated[0--1.0]"],
    ),
    "the longest episode has no limit": (
        "min(longest_episode(model), LONGEST)",
        "longest_episode(model)",
        ["tests/bamdp/test_undiscounted.py::test_a_rare_end_counts_as_a_billion_steps"],
    ),
    "untried pairs are followed where the discount is 1": (
        "with_absorbing_pairs(m, untried, worth) if untried.any() else m\n        found",
        "m\n        found",
        ["tests/bamdp/test_undiscounted.py::test_rmax_and_mbie_eb_are_enumerated[0-None]"],
    ),
    "R-max may plan for episodes that need not end": (
        '    must_be_proper(planner, "belief", model)\n',
        "",
        ["tests/bamdp/test_undiscounted.py::test_planners_refuse_what_need_not_end[rmax]"],
    ),
}
