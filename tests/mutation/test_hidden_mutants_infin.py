"""Planted bugs in the infinite POMDP and in the prior over policies; see test_mutants.py."""

import pytest

HIDDEN = "bayesrl.beliefs.hidden."
BEAM, CHAINS = HIDDEN + "_beam", HIDDEN + "_chains"
INFINITE, POLICY = HIDDEN + "infinite_pomdp", HIDDEN + "policy_prior"
SEARCH = "bayesrl.bapomdp.policy_prior_search"
STEP, STATES, EXPERT = (f"tests/hidden/test_{name}.py::" for name in ("beam", "infinite_pomdp", "policy_prior"))
GEWEKE = [STATES + "test_geweke"]
CALIBRATION = ["tests/hidden/test_calibration_of_chains.py::test_calibration[policy-prior-100]"]
JOINTLY = ["tests/hidden/test_calibration_of_chains.py::test_a_sweep_keeps_the_joint_distribution[policy-prior]"]
TABLES = [STEP + "test_numbers_of_tables"]
GIVEN = [STEP + "test_beta_and_rows_given_states"]
BROKEN = [STEP + "test_a_state_broken_off_the_rest"]
PATHS = [STEP + "test_paths_given_slices"]
FILTER = [STATES + "test_filter_and_weights_between_sweeps"]
NODES = [EXPERT + "test_filter_and_weights_between_sweeps"]
JOINT = [EXPERT + "test_joint_posterior"]
VALUES = [EXPERT + "test_values_of_controllers"]
PAIRS = [EXPERT + "test_the_search_weighs_pairs"]
EPISODE = [EXPERT + "test_nodes_follow_an_episode"]

MUTANTS = {
    # name: (module, old, new, tests)
    # a sweep
    "a table for each customer": (BEAM, "rng.random() * (c + i) < c or i == 0", "True", TABLES),
    "one table for each dish": (BEAM, "rng.random() * (c + i) < c or i == 0", "i == 0", TABLES),
    "tables at the concentration of the row": (BEAM, "tables(n[j, a, k], prior.row * beta[k], rng)", "tables(n[j, a, k], prior.row, rng)", GIVEN),
    "customers for tables": (BEAM, "m[k] += tables(n[j, a, k], prior.row * beta[k], rng)", "m[k] += n[j, a, k]", GIVEN),
    "beta without the rest": (BEAM, "m[K] = prior.stick", "m[K] = 1e-6", GEWEKE),
    "beta without the rest, seen by calibration": (BEAM, "m[K] = prior.stick", "m[K] = 1e-6", CALIBRATION),
    "beta without half of the rest": (BEAM, "m[K] = prior.stick", "m[K] = 0.5 * prior.stick", JOINTLY),
    "x_0 without a table": (BEAM, "m[x[i]] += 1.0", "m[x[i]] += 1e-9", [STATES + "test_a_start_is_a_table"]),
    "rows that forget the prior": (BEAM, "dirichlet(prior.row * beta + n[j, a], rng)", "dirichlet(beta + n[j, a], rng)", GIVEN),
    "rows around a flat beta": (
        BEAM, "dirichlet(prior.row * beta + n[j, a], rng)", "dirichlet(prior.row / (K + 1) + n[j, a], rng)", GIVEN),
    "rewards of the state after": (
        BEAM, "before[x[i], steps[t, 1], steps[t, 2]] += 1.0", "before[x[i + 1], steps[t, 1], steps[t, 2]] += 1.0",
        [STEP + "test_signs_given_states"]),
    "observations of the state before": (
        BEAM, "after[x[i + 1], steps[t, 3], steps[t, 4]] += 1.0", "after[x[i], steps[t, 3], steps[t, 4]] += 1.0",
        [STEP + "test_signs_given_states"]),
    "a slice below one": (
        BEAM, "(1.0 - rng.random()) * model.moves[x[i], steps[t, 0], x[i + 1]]", "1.0 - rng.random()",
        [STEP + "test_slices"]),
    "breaking stops early": (
        BEAM, "model.beta[K] < first and not longer(model.moves, low)", "True",
        [STEP + "test_states_are_broken_off_until_none_of_the_rest_can_be_reached"]),
    "breaking looks at beta alone": (
        BEAM, "model.beta[K] < first and not longer(model.moves, low)", "model.beta[K] < first",
        [STEP + "test_states_are_broken_off_until_none_of_the_rest_can_be_reached"]),
    "new rows without beta": (
        BEAM, "dirichlet(prior.row * beta, rng), beta", "dirichlet(np.full(K + 2, prior.row / (K + 2)), rng), beta",
        BROKEN),
    "a row's rest broken as beta's": (
        BEAM, "v = dirichlet(prior.row * beta[K:], rng)[0]", "v = piece(prior.row, rng)", BROKEN),
    "a row's rest broken by beta itself": (
        BEAM, "v = dirichlet(prior.row * beta[K:], rng)[0]", "v = beta[K] / beta[K:].sum()", BROKEN),
    "new states show all signs alike": (BEAM, "dirichlet(np.full(Z, prior.concentration), rng)", "np.full(Z, 1.0 / Z)", BROKEN),
    "u ignored": (BEAM, "if model.moves[j, a, k] >= u[i + l]:", "if True:", PATHS),
    "u of the start ignored": (BEAM, "1.0 if model.beta[k] >= u[i] else 0.0", "1.0", PATHS),
    "u ignored backwards": (
        BEAM, "if not model.moves[k, steps[t + l, 0], x[i + l + 1]] >= u[i + l + 1]:", "if False:", PATHS),
    "steps weighed twice": (BEAM, "p[l, k] += p[l - 1, j]", "p[l, k] += p[l - 1, j] * model.moves[j, a, k]", PATHS),
    "the first sign of a path ignored": (BEAM, "                if l < L:\n                    p[l, k] *=", "                if 0 < l < L:\n                    p[l, k] *=", PATHS),
    "empty states keep their mass": (
        BEAM, "kept[k] = max(left, 0.0)", "kept[k] = beta[K]", [STEP + "test_states_are_numbered_as_they_appear"]),
    # chains
    "weights kept by a sweep": (CHAINS, "log_weight=frozen(np.zeros(len(chains)))", "log_weight=data.log_weight", FILTER),
    "a restart that forgets": (
        CHAINS, "length=frozen(np.append(data.length, 0))", "length=data.length", [STATES + "test_sequences"]),
    "a restart in the old state": (
        CHAINS, "model, model.beta) for x, model, _ in data.chains", "model, now) for x, model, now in data.chains", NODES),
    "chains of equal weight": (CHAINS, "log_weight[i] += np.log(max(total, TINY))", "log_weight[i] += 0.0", FILTER),
    "impossible draws": (CHAINS, "np.log(max(total, TINY))", "np.log(total)", [STATES + "test_draws_that_underflow"]),
    "what is done says nothing of the node": (CHAINS, "(now * model.before[:, g, v]) @", "now @", NODES),
    "the first state for the last": (CHAINS, "now[y[-1]] = 1.0", "now[y[0]] = 1.0", NODES),
    # infinite-pomdp
    "every reward the first": (INFINITE, "return int(found[0])", "return 0", FILTER),
    "the observation before the step": (INFINITE, "now @ model.moves[:, a] @ model.after[:, a]", "now @ model.after[:, a]", FILTER),
    "models of any chain": (
        INFINITE, "rng.choice(self.chains, p=weights(self.data))", "rng.choice(self.chains)",
        [STATES + "test_models_are_drawn_by_weight"]),
    "a start that is the likeliest state": (
        INFINITE, "int(rng.choice(len(now), p=now))", "int(np.argmax(now))", [STATES + "test_models_are_drawn_by_weight"]),
    # policy-prior
    "actions and observations not exchanged": (POLICY, "(o, 0, a, 0, 0)", "(a, 0, o, 0, 0)", NODES),
    "the next action of any chain": (POLICY, "np.asarray(weights(self.data) @ [", "np.asarray(np.full(self.chains, 1.0 / self.chains) @ [", NODES),
    "the next action of a new sequence": (POLICY, "now @ model.before[:, 0]", "model.beta @ model.before[:, 0]", NODES),
    "controllers of any chain": (
        POLICY, "rng.choice(self.chains, p=weights(self.data))", "rng.choice(self.chains)",
        [EXPERT + "test_controllers_are_drawn_by_weight"]),
    "temperature inverted": (POLICY, "(v - v.max(initial=-np.inf)) / t", "(v - v.max(initial=-np.inf)) * min(t, 9.0)", JOINT),
    "bad policies preferred": (POLICY, "(v - v.max(initial=-np.inf)) / t", "(v.min(initial=np.inf) - v) / t", JOINT),
    "the likelihood of models dropped": (POLICY, "(m - m.max())[:, None]", "0.0 * m[:, None]", JOINT),
    "the likelihood of policies dropped": (POLICY, "(p - p.max())", "0.0 * p", JOINT),
    # policy-prior-search
    "the action now without the discount": (
        SEARCH, "r[:, None] + np.tensordot(", "r[:, None] + 1.0 / pomdp.gamma * np.tensordot(", VALUES),
    "the policy now, not the action": (
        SEARCH, 'np.einsum("s,n,sna->a", pomdp.start, node, Q)',
        'np.einsum("s,n,sna,nb->b", pomdp.start, node, Q, pi)', VALUES),
    "values that do not end": (
        SEARCH, "np.where(pomdp.terminal, 0.0, P)", "P", [EXPERT + "test_values_without_a_discount"]),
    "a controller that stays at its node": (
        SEARCH, '"say,yao,nom->snaym", P, O, eta', '"say,yao,nm->snaym", P, O, np.eye(N)', VALUES),
    "a node that observations do not move": (
        SEARCH, "chain.model.before[:, 0, step.action]) @ chain.model.moves[:, step.next_observation]",
        "chain.model.before[:, 0, step.action])", EPISODE),
    "a node that ignores what was done": (
        SEARCH, "(now * chain.model.before[:, 0, step.action])", "now", EPISODE),
    "an episode that ends in the memory": (SEARCH, "() if last.ends_episode else (*memory, last)", "(*memory, last)", PAIRS),
    "the last step forgotten": (SEARCH, "() if last.ends_episode else (*memory, last)", "() if last.ends_episode else memory", PAIRS),
    "pairs of equal weight": (SEARCH, "np.inf if self.temperature is None else self.temperature", "np.inf", PAIRS),
    "values of new episodes": (
        SEARCH, "[node_now(chain, memory) for", "[node_now(chain, ()) for", PAIRS),
    "the worst action": (SEARCH, "first_best(total", "first_best(-total", PAIRS),
}  # fmt: skip


@pytest.mark.parametrize("name", MUTANTS)
def test_planted_bug_is_caught(name, assert_caught):
    assert_caught(name, *MUTANTS[name])
