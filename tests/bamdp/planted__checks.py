"""Planted bugs of bayesrl.bamdp._checks."""

MODULE = "bayesrl.bamdp._checks"
PLANTED = {
    "a state before the first is the last": (
        "observation, 0, belief.n_states - 1)",
        "observation, -1, belief.n_states - 1)",
        ["tests/bamdp/test_planners.py::test_what_is_no_state_is_refused[boss]"],
    ),
    "what never ends is refused late": (
        "    if belief.gamma == 1.0:",
        "    if False:",
        ["tests/bamdp/test_planners.py::test_neither_a_discount_nor_an_end_is_refused_at_once[psrl]"],
    ),
    "the mean model's ends are those of every belief's models": (
        "offers(belief, SharesMeanSupport) and belief.same_support:",
        "True:",
        ["tests/bamdp/test_planners.py::test_models_with_different_ends[psrl]"],
    ),
}
