"""Planted bugs in the infinite POMDP and in the prior over policies; see test_mutants.py."""

import pytest

BEAM, CHAINS = "bayesrl.beliefs.hidden._beam", "bayesrl.beliefs.hidden._chains"
INFINITE = "tests/hidden/test_infinite_pomdp.py::"
GEWEKE = [INFINITE + "test_geweke"]
EQUAL = [INFINITE + "test_equal_states_follow_the_posterior[one]"]
SAME = [INFINITE + "test_equal_states_follow_the_posterior[the same]"]

MUTANTS = {
    # name: (module, old, new, tests)
    "a table for each customer": (BEAM, "rng.random() * (c + i) < c or i == 0", "True", GEWEKE),
    "one table for each dish": (BEAM, "rng.random() * (c + i) < c or i == 0", "i == 0", SAME),
    "tables of the wrong concentration": (BEAM, "prior.row * beta[k], rng)", "prior.row, rng)", GEWEKE),
    "beta without the rest": (BEAM, "m[K] = prior.stick", "m[K] = 1e-6", EQUAL),
    "u ignored": (BEAM, "if model.moves[j, a, k] >= u[i + l]:", "if True:", EQUAL),
    "u of the start ignored": (BEAM, "1.0 if model.beta[k] >= u[i] else 0.0", "1.0", EQUAL),
    "u ignored on the way back": (
        BEAM, "if not model.moves[k, steps[t + l, 0], x[i + l + 1]] >= u[i + l + 1]:", "if False:", EQUAL),
    "x_0 without a table": (BEAM, "m[x[i]] += 1.0", "m[x[i]] += 1e-9", GEWEKE),
    "rows of new states without beta": (
        BEAM, "dirichlet(prior.row * beta, rng), beta", "dirichlet(np.full(K + 2, prior.row), rng), beta", GEWEKE),
    "breaking stops early": (BEAM, "model.beta[K] < first and not longer(model.moves, low)", "True", EQUAL),
    "rewards of the state after": (
        BEAM, "before[x[i], steps[t, 1], steps[t, 2]] += 1.0", "before[x[i + 1], steps[t, 1], steps[t, 2]] += 1.0",
        [INFINITE + "test_equal_states_follow_the_posterior[rewards]"]),
    "weights kept by a sweep": (
        CHAINS, "log_weight=frozen(np.zeros(len(chains)))", "log_weight=data.log_weight",
        [INFINITE + "test_filter_and_weights_between_sweeps"]),
    "a restart that forgets": (
        CHAINS, "length=frozen(np.append(data.length, 0))", "length=data.length", [INFINITE + "test_sequences"]),
}  # fmt: skip


@pytest.mark.parametrize("name", MUTANTS)
def test_planted_bug_is_caught(name, assert_caught):
    assert_caught(name, *MUTANTS[name])
