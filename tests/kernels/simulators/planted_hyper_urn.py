"""Planted bugs of bayesrl.kernels.simulators.hyper_urn."""

MODULE = "bayesrl.kernels.simulators.hyper_urn"
PLANTED = {
    "nothing is learnt within a simulation": (
        "if row.total < model.bound:",
        "if False:",
        [
            "tests/bapomdp/test_ba_pomcp.py::test_urns_draw_like_enumerated_hyper_states",
            "tests/bapomdp/test_ba_pomcp.py::test_a_fixed_mean_model_is_told_apart",
        ],
    ),
    "what a simulation learnt is not forgotten": (
        "    model.now[1] += 1\n",
        "    model.now[1] = 1\n",
        ["tests/bapomdp/test_ba_pomcp.py::test_urns_draw_like_enumerated_hyper_states"],
    ),
    "the hyper-state's own counts are left out": (
        "        seen += model.times[high]\n",
        "        seen += 0\n",
        ["tests/bapomdp/test_ba_pomcp.py::test_urns_draw_like_enumerated_hyper_states"],
    ),
    "the first hyper-state is always drawn": (
        "model.now[0] = draw_by(model.below, 0, model.below.shape[1], rng)",
        "model.now[0] = 0",
        [
            "tests/bapomdp/test_ba_pomcp.py::test_urns_draw_like_enumerated_hyper_states",
            "tests/bapomdp/test_ba_pomcp.py::test_equal_in_law_to_a_naive_transcription",
        ],
    ),
    "the first outcome is counted, whatever came": (
        "model.balls[row.first + n] = index(k)",
        "model.balls[row.first + n] = index(0)",
        ["tests/bapomdp/test_ba_pomcp.py::test_urns_draw_like_enumerated_hyper_states"],
    ),
    "the bound is not kept": (
        "if row.total < model.bound:",
        "if True:",
        ["tests/bapomdp/test_ba_pomcp.py::test_bounded_rows_stop_counting"],
    ),
}
