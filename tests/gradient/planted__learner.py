"""Planted bugs of bayesrl.gradient._learner."""

MODULE = "bayesrl.gradient._learner"
PLANTED = {
    "a score counts one action less": (
        "path.scores.sum(axis=0) for path in paths",
        "path.scores[:-1].sum(axis=0) for path in paths",
        ["tests/gradient/test_baselines.py::test_estimates_are_unbiased"],
    ),
    "scores of a batch are those of the next policy": (
        "policy=mind.policy if small else policy,",
        "policy=mind.policy if small else policy, paths=paths[:1],",
        ["tests/gradient/test_agents.py::test_an_update_by_hand[bpg-2]"],
    ),
    "an update loses its line search": (
        "            search=search,\n",
        "",
        ["tests/test_ends.py::test_a_learner_carries_on_all_that_an_update_found[bpg-1-conjugate]"],
    ),
}
