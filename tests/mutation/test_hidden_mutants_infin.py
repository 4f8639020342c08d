"""Planted bugs in the infinite POMDP and in the prior over policies; see test_mutants.py."""

import pytest

BEAM, CHAINS = "bayesrl.beliefs.hidden._beam", "bayesrl.beliefs.hidden._chains"
INFINITE = "tests/hidden/test_infinite_pomdp.py::"
GEWEKE = [INFINITE + "test_geweke"]
TABLES = [INFINITE + "test_tables"]

MUTANTS = {
    # name: (module, old, new, tests)
    "a table for each customer": (BEAM, "rng.random() * (c + i) < c or i == 0", "True", TABLES),
    "one table for each dish": (BEAM, "rng.random() * (c + i) < c or i == 0", "i == 0", TABLES),
    "beta without the rest": (BEAM, "m[K] = prior.stick", "m[K] = 1e-6", GEWEKE),
    "u ignored": (BEAM, "if model.moves[j, a, k] >= u[i + l]:", "if True:", GEWEKE),
    "u of the start ignored": (BEAM, "1.0 if model.beta[k] >= u[i] else 0.0", "1.0", GEWEKE),
    "x_0 without a table": (BEAM, "m[x[i]] += 1.0", "m[x[i]] += 1e-9", [INFINITE + "test_a_start_is_a_table"]),
    "breaking stops early": (BEAM, "model.beta[K] < first and not longer(model.moves, low)", "True", GEWEKE),
    "rewards of the state after": (
        BEAM, "before[x[i], steps[t, 1], steps[t, 2]] += 1.0", "before[x[i + 1], steps[t, 1], steps[t, 2]] += 1.0",
        GEWEKE),
    "weights kept by a sweep": (
        CHAINS, "log_weight=frozen(np.zeros(len(chains)))", "log_weight=data.log_weight",
        [INFINITE + "test_filter_and_weights_between_sweeps"]),
    "a restart that forgets": (
        CHAINS, "length=frozen(np.append(data.length, 0))", "length=data.length", [INFINITE + "test_sequences"]),
}  # fmt: skip


@pytest.mark.parametrize("name", MUTANTS)
def test_planted_bug_is_caught(name, assert_caught):
    assert_caught(name, *MUTANTS[name])
