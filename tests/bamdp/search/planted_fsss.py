"""Planted bugs of bayesrl.bamdp.search.fsss."""

MODULE = "bayesrl.bamdp.search.fsss"
PLANTED = {
    "FSSS follows the lower bound": (
        "a = highest(rng, tree.q[h, UPPER], scale)",
        "a = highest(rng, tree.q[h, LOWER], scale)",
        ["tests/bamdp/search/test_known_model_search.py::test_fsss_equals_its_transcription_draw_for_draw[10-0.8]"],
    ),
    "FSSS does not share its nodes": (
        "if node[t + 1, y] < 0:",
        "if True:",
        ["tests/bamdp/search/test_known_model_search.py::test_fsss_equals_its_transcription_draw_for_draw[10-0.8]"],
    ),
}
