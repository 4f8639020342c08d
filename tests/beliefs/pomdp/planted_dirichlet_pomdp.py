"""Planted bugs of bayesrl.beliefs.pomdp.dirichlet_pomdp."""

MODULE = "bayesrl.beliefs.pomdp.dirichlet_pomdp"
PLANTED = {
    "the density of known rows": (
        "dirichlet_log_density(counts[~fixed], prob[~fixed])",
        "dirichlet_log_density(counts, own)",
        ["tests/beliefs/pomdp/test_dirichlet_pomdp.py::test_density_is_that_of_unknown_rows"],
    ),
    "known rows are drawn": (
        "rows[~fixed] = dirichlet_rows(counts[~fixed], rng)",
        "rows[:] = dirichlet_rows(counts, rng)",
        ["tests/beliefs/pomdp/test_dirichlet_pomdp.py::test_draws_have_these_means_and_keep_known_rows"],
    ),
    "a seen step counts once, whatever its weight": (
        "phi[g] += weight * moved / moved.sum()",
        "phi[g] += moved / moved.sum()",
        ["tests/beliefs/pomdp/test_dirichlet_pomdp.py::test_steps_that_were_seen_are_counted"],
    ),
}
