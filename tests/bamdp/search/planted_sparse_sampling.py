"""Planted bugs of bayesrl.bamdp.search.sparse_sampling."""

MODULE = "bayesrl.bamdp.search.sparse_sampling"
PLANTED = {
    "sparse sampling forgets the discount": (
        "q += (r + gamma * v) / C",
        "q += (r + v) / C",
        [
            "tests/bamdp/search/test_known_model_search.py::test_sparse_sampling_equals_its_transcription_draw_for_draw[0.8]"
        ],
    ),
    "sparse sampling averages over actions": (
        "v = max(v, estimate(",
        "v = max(-np.inf, estimate(",
        [
            "tests/bamdp/search/test_known_model_search.py::test_sparse_sampling_equals_its_transcription_draw_for_draw[0.8]"
        ],
    ),
}
