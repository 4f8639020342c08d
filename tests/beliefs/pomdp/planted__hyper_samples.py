"""Planted bugs of bayesrl.beliefs.pomdp._hyper_samples."""

MODULE = "bayesrl.beliefs.pomdp._hyper_samples"
PLANTED = {
    "particles count before they weigh": (
        "new.weight[n] = w * shown / shows",
        "new.weight[n] = w * (shown + 1.0) / (shows + 1.0)",
        ["tests/beliefs/pomdp/test_bapomdp_particle.py::test_the_observation_that_came_is_weighed_and_counted"],
    ),
    "particles count a simulated observation": (
        "        j = draw(x[: m.size[r]], shown, rng)\n",
        "        j = draw(m.alpha[r, : m.size[r]], m.total[r], rng)\n",
        ["tests/beliefs/pomdp/test_bapomdp_particle.py::test_the_observation_that_came_is_weighed_and_counted"],
    ),
    "the predictive tells of the old state": (
        (
            "shows = counts_in(m, h, i, none, m.show[y, a], z)\n"
            "                    for j in range(m.size[m.show[y, a]]):"
        ),
        (
            "shows = counts_in(m, h, i, none, m.show[s, a], z)\n"
            "                    for j in range(m.size[m.show[s, a]]):"
        ),
        ["tests/beliefs/pomdp/test_bapomdp_beliefs.py::test_predictives_are_ratios_of_evidence"],
    ),
    "means of counts, not of means": (
        "mean[r, k] += h.weight[i] * x[k] / total",
        "mean[r, k] += h.weight[i] * x[k]",
        ["tests/beliefs/pomdp/test_bapomdp_beliefs.py::test_mean_model_and_dense_counts_are_those_of_the_mixture"],
    ),
    "resampling by weight and not by its sum": (
        "while i < n - 1 and below <= (t + u) * step:",
        "while i < n - 1 and below <= t * step:",
        ["tests/beliefs/pomdp/test_bapomdp_particle.py::test_resampling_is_systematic"],
    ),
}
