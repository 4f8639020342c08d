"""Planted bugs of bayesrl.beliefs.pomdp._beam."""

MODULE = "bayesrl.beliefs.pomdp._beam"
PLANTED = {
    "one table for each dish": (
        "rng.random() * (c + i) < c or i == 0",
        "i == 0",
        ["tests/beliefs/pomdp/test_beam.py::test_numbers_of_tables"],
    ),
    "tables at the concentration of the row": (
        "tables(n[j, a, k], prior.row * beta[k], rng)",
        "tables(n[j, a, k], prior.row, rng)",
        ["tests/beliefs/pomdp/test_beam.py::test_beta_and_rows_given_states"],
    ),
    "customers for tables": (
        "m[k] += tables(n[j, a, k], prior.row * beta[k], rng)",
        "m[k] += n[j, a, k]",
        ["tests/beliefs/pomdp/test_beam.py::test_beta_and_rows_given_states"],
    ),
    "beta without the rest": (
        "m[K] = prior.stick",
        "m[K] = 1e-6",
        ["tests/beliefs/pomdp/test_infinite_pomdp.py::test_geweke"],
    ),
    "beta without half of the rest": (
        "m[K] = prior.stick",
        "m[K] = 0.5 * prior.stick",
        ["tests/beliefs/pomdp/test_calibration_of_chains.py::test_a_sweep_keeps_the_joint_distribution[policy-prior]"],
    ),
    "x_0 without a table": (
        "m[x[i]] += 1.0",
        "m[x[i]] += 1e-9",
        ["tests/beliefs/pomdp/test_infinite_pomdp.py::test_a_start_is_a_table"],
    ),
    "rows around a flat beta": (
        "dirichlet(prior.row * beta + n[j, a], rng)",
        "dirichlet(prior.row / (K + 1) + n[j, a], rng)",
        ["tests/beliefs/pomdp/test_beam.py::test_beta_and_rows_given_states"],
    ),
    "rewards of the state after": (
        "before[x[i], steps[t, 1], steps[t, 2]] += 1.0",
        "before[x[i + 1], steps[t, 1], steps[t, 2]] += 1.0",
        ["tests/beliefs/pomdp/test_beam.py::test_signs_given_states"],
    ),
    "observations of the state before": (
        "after[x[i + 1], steps[t, 3], steps[t, 4]] += 1.0",
        "after[x[i], steps[t, 3], steps[t, 4]] += 1.0",
        ["tests/beliefs/pomdp/test_beam.py::test_signs_given_states"],
    ),
    "a slice below one": (
        "(1.0 - rng.random()) * model.moves[x[i], steps[t, 0], x[i + 1]]",
        "1.0 - rng.random()",
        ["tests/beliefs/pomdp/test_beam.py::test_slices"],
    ),
    "breaking looks at beta alone": (
        "model.beta[K] < first and not longer(model.moves, low)",
        "model.beta[K] < first",
        ["tests/beliefs/pomdp/test_beam.py::test_states_are_broken_off_until_none_of_the_rest_can_be_reached"],
    ),
    "new rows without beta": (
        "dirichlet(prior.row * beta, rng), beta",
        "dirichlet(np.full(K + 2, prior.row / (K + 2)), rng), beta",
        ["tests/beliefs/pomdp/test_beam.py::test_a_state_broken_off_the_rest"],
    ),
    "a row's rest broken as beta's": (
        "v = dirichlet(prior.row * beta[K:], rng)[0]",
        "v = piece(prior.row, rng)",
        ["tests/beliefs/pomdp/test_beam.py::test_a_state_broken_off_the_rest"],
    ),
    "a row's rest broken by beta itself": (
        "v = dirichlet(prior.row * beta[K:], rng)[0]",
        "v = beta[K] / beta[K:].sum()",
        ["tests/beliefs/pomdp/test_beam.py::test_a_state_broken_off_the_rest"],
    ),
    "new states show all signs alike": (
        "dirichlet(np.full(Z, prior.concentration), rng)",
        "np.full(Z, 1.0 / Z)",
        ["tests/beliefs/pomdp/test_beam.py::test_a_state_broken_off_the_rest"],
    ),
    "u ignored": (
        "if model.moves[j, a, k] >= u[i + l]:",
        "if True:",
        ["tests/beliefs/pomdp/test_beam.py::test_paths_given_slices"],
    ),
    "u of the start ignored": (
        "1.0 if model.beta[k] >= u[i] else 0.0",
        "1.0",
        ["tests/beliefs/pomdp/test_beam.py::test_paths_given_slices"],
    ),
    "u ignored backwards": (
        "if not model.moves[k, steps[t + l, 0], x[i + l + 1]] >= u[i + l + 1]:",
        "if False:",
        ["tests/beliefs/pomdp/test_beam.py::test_paths_given_slices"],
    ),
    "steps weighed twice": (
        "p[l, k] += p[l - 1, j]",
        "p[l, k] += p[l - 1, j] * model.moves[j, a, k]",
        ["tests/beliefs/pomdp/test_beam.py::test_paths_given_slices"],
    ),
    "the first sign of a path ignored": (
        ("                if l < L:\n                    p[l, k] *="),
        ("                if 0 < l < L:\n                    p[l, k] *="),
        ["tests/beliefs/pomdp/test_beam.py::test_paths_given_slices"],
    ),
    "empty states keep their mass": (
        "kept[k] = max(left, 0.0)",
        "kept[k] = beta[K]",
        ["tests/beliefs/pomdp/test_beam.py::test_states_are_numbered_as_they_appear"],
    ),
}
