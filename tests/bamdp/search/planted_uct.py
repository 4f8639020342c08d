"""Planted bugs of bayesrl.bamdp.search.uct."""

MODULE = "bayesrl.bamdp.search.uct"
PLANTED = {
    "UCT counts its returns from zero on": (
        "add_return(spread, R, k + 1)",
        "add_return(spread, R, max(k, 1))",
        ["tests/bamdp/search/test_known_model_search.py::test_uct_equals_its_transcription_in_law"],
    ),
    "UCT knows no return": (
        "add_return(spread, R, k + 1)",
        "pass",
        ["tests/bamdp/search/test_known_model_search.py::test_uct_equals_its_transcription_in_law[auto-1-60]"],
    ),
    "UCT mixes depths": (
        "h = t * S + s",
        "h = s",
        ["tests/bamdp/search/test_known_model_search.py::test_uct_equals_its_transcription_in_law"],
    ),
    "UCT forgets the discount": (
        "R = path_r[i] + gamma * R",
        "R = path_r[i] + R",
        ["tests/bamdp/search/test_known_model_search.py::test_uct_equals_its_transcription_in_law"],
    ),
}
