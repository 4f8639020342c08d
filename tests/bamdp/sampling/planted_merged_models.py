"""Planted bugs of bayesrl.bamdp.sampling.merged_models."""

MODULE = "bayesrl.bamdp.sampling.merged_models"
PLANTED = {
    "the hyper-model averages its models": (
        "-1, A).max(axis=1)",
        "-1, A).mean(axis=1)",
        ["tests/bamdp/sampling/test_boss.py::test_hyper_model_dominates_each_model"],
    ),
    "the hyper-model pays the first model's rewards": (
        "[_padded(m.reward, K) for",
        "[_padded(models[0].reward, K) for",
        ["tests/bamdp/sampling/test_boss.py::test_hyper_model_dominates_each_model[unknown]"],
    ),
    "SmartSampler uses every model everywhere": (
        "own = i < sizes",
        "own = i < sizes.max() + 0 * sizes",
        [
            "tests/bamdp/sampling/test_boss.py::test_smart_sampler_equals_its_transcription[tied]",
            "tests/bamdp/sampling/test_boss.py::test_smart_sampler_equals_its_transcription[terminal]",
        ],
    ),
    "rows of a pair are left out": (
        "np.where(i < sizes, first",
        "np.where(i < 1, first",
        ["tests/bamdp/sampling/test_boss.py::test_each_pair_may_choose_among_as_many_lists_as_it_has"],
    ),
    "lists pay what the first outcomes pay": (
        "reward[rows[n], succ[n, k]]",
        "reward[rows[n], k]",
        ["tests/bamdp/sampling/test_boss.py::test_lists_are_the_models_they_stand_for"],
    ),
    "all rows are the first one's": (
        "first[o.group][:, None, :] + i",
        "first[o.group][:, None, :] + 0 * i",
        ["tests/bamdp/sampling/test_boss.py::test_each_pair_may_choose_among_as_many_lists_as_it_has"],
    ),
}
