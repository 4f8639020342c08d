"""Planted bugs of bayesrl.bamdp.sampling.smart_sampler."""

MODULE = "bayesrl.bamdp.sampling.smart_sampler"
PLANTED = {
    "SmartSampler takes the mean variance": (
        ".max(axis=1)\n",
        ".mean(axis=1)\n",
        ["tests/bamdp/sampling/test_boss.py::test_smart_sampler_equals_its_transcription[flat]"],
    ),
    "SmartSampler draws models without number": (
        "largest > MOST * epsilon",
        "False",
        ["tests/bamdp/sampling/test_boss.py::test_more_models_than_there_is_memory_for_are_refused_at_once"],
    ),
    "models are drawn though nothing moved": (
        ".max() > self.delta:",
        ".max() >= self.delta:",
        ["tests/test_ends.py::test_what_was_drawn_or_solved_is_kept_while_nothing_happens[smart-sampler]"],
    ),
}
