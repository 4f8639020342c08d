"""Planted bugs of bayesrl.bapomdp.sampled_pomdps."""

MODULE = "bayesrl.bapomdp.sampled_pomdps"
PLANTED = {
    "sampled models are not weighted": (
        "f.log_evidence() - before for",
        "0.0 for",
        ["tests/bapomdp/test_sampled_pomdps.py::test_models_are_kept_weighted_and_renewed"],
    ),
    "what was seen before a draw counts again": (
        "f.log_evidence() - before for",
        "f.log_evidence() for",
        ["tests/bapomdp/test_sampled_pomdps.py::test_equal_to_a_transcription"],
    ),
    "models are young in each episode": (
        "for m in models), (), memory.age + 1)",
        "for m in models), (), 0)",
        ["tests/bapomdp/test_sampled_pomdps.py::test_models_grow_older_over_the_end_of_an_episode"],
    ),
}
