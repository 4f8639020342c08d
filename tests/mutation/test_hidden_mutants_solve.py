"""Planted bugs in solvers of known POMDPs; see test_mutants.py."""

import pytest

EXACT, POINTS, ALPHA = (
    f"tests/hidden/test_{name}.py::" for name in ("pomdp_value_iteration", "point_based", "alpha_vectors")
)
SOLVERS = "bayesrl.models.pomdp_solvers."
EXPECTIMAX, ENDS = (EXACT + f"test_equal_to_expectimax[shape{i}]" for i in ("1-5", "2-5"))
SWEEP = POINTS + "test_sweep_equals_its_transcription"
PERSEUS = POINTS + "test_a_stage_equals_its_transcription"
BOUNDS = POINTS + "test_bounds_are_above_what_any_history_earns"

MUTANTS = {
    # name: (module, old, new, tests)
    "Omega at the old state, exactly": (
        SOLVERS + "pomdp_value_iteration", "p.gamma * (v.alpha * p.seen[a, o]) @ p.P[a].T",
        "p.gamma * p.seen[a, o] * (v.alpha @ p.P[a].T)", [EXPECTIMAX]),
    "transitions backwards": (
        SOLVERS + "pomdp_value_iteration", "@ p.P[a].T", "@ p.P[a]", [EXPECTIMAX]),
    "the leaf is discounted, and nothing else": (
        SOLVERS + "pomdp_value_iteration", "p.gamma * (v.alpha * p.seen[a, o])", "(v.alpha * p.seen[a, o])", [EXPECTIMAX]),
    "rewards once for each observation": (
        SOLVERS + "pomdp_value_iteration", "gamma_ao = p.gamma * (v.alpha * p.seen[a, o]) @ p.P[a].T",
        "gamma_ao = p.r[a] + p.gamma * (v.alpha * p.seen[a, o]) @ p.P[a].T", [EXPECTIMAX]),
    "ends are ignored": (
        SOLVERS + "pomdp_value_iteration", "live = ~pomdp.terminal", "live = np.ones(pomdp.n_states, np.bool_)",
        [EXACT + "test_tiger"]),
    "an observation is forgotten": (
        SOLVERS + "pomdp_value_iteration", "np.flatnonzero(p.seen[a].any(axis=1))", "np.flatnonzero(p.seen[a].any(axis=1))[1:]",
        [EXPECTIMAX]),
    "actions of pruned vectors": (
        SOLVERS + "pomdp_value_iteration", "return Vectors(alpha[kept], action[kept], witness), slack",
        "return Vectors(alpha[kept], action[: len(kept)], witness), slack", [EXACT + "test_tiger_thresholds"]),
    "the error bound forgets what comes after": (
        SOLVERS + "pomdp_value_iteration", "bound = p.gamma / (1.0 - p.gamma) * largest_excess(w.alpha, v.alpha)",
        "bound = largest_excess(w.alpha, v.alpha)", [EXACT + "test_the_error_bound_is_true"]),
    "the gap the wrong way round": (
        SOLVERS + "pomdp_value_iteration", "largest_excess(w.alpha, v.alpha)", "largest_excess(v.alpha, w.alpha)",
        [EXACT + "test_tiger"]),
    "vectors without a limit": (
        SOLVERS + "pomdp_value_iteration", "if len(alpha) > (most", "if 0 > (most", [EXACT + "test_too_many_vectors"]),
    "domination the wrong way round": (
        SOLVERS + "_pruning", "d = vectors[j, s] - vectors[i, s]", "d = vectors[i, s] - vectors[j, s]", [EXPECTIMAX]),
    "no program after the corners": (
        SOLVERS + "_pruning", "            if high <= slack:\n                state[i] = OUT\n            elif low > 0.0:",
        "            if True:\n                state[i] = OUT\n            elif low > 0.0:", [EXACT + "test_pruning_loses_nothing[3]"]),
    "what came in early stays in": (
        SOLVERS + "_pruning", "                if high > slack:\n                    state[i], witness[i] = IN, b\n",
        "                state[i], witness[i] = IN, b\n",
        [EXACT + "test_a_tie_at_a_witness_keeps_nothing_superfluous"]),
    "an envelope that keeps lines below it": (
        SOLVERS + "_pruning", "if not (above or (n > 1 and excess(y, vectors[kept[n - 2]], x) <= slack)):", "if not above:",
        [EXACT + "test_parsimonious"]),
    "an envelope without its middle": (
        SOLVERS + "_pruning", "excess(y, vectors[kept[n - 2]], x) <= slack", "excess(y, vectors[kept[n - 2]], x) > slack",
        [EXACT + "test_tiger"]),
    "weights of a game taken for the belief": (
        SOLVERS + "_pruning", "        b[s] = max(table[S, n + s], 0.0)", "        b[s] = max(table[s, n + S], 0.0)",
        [EXACT + "test_games"]),
    "Omega at the old state, at points": (
        SOLVERS + "_backups", "h = m.sign_group[s, a]\n        for k in range(m.sign_size[h]):\n            after[s]",
        "h = m.sign_group[0, a]\n        for k in range(m.sign_size[h]):\n            after[s]", [SWEEP]),
    "values ahead are not discounted": (
        SOLVERS + "_backups", "q[a] += m.gamma * v[pick[a, o]]", "q[a] += v[pick[a, o]]", [SWEEP]),
    "four states at a time, the rest never": (
        SOLVERS + "_backups", "    for i in range(n, end):", "    for i in range(end, end):", [SWEEP]),
    "what values rest on is dropped": (
        SOLVERS + "_backups", "stays[j] = x.max() < before - slack", "stays[j] = False",
        [POINTS + "test_values_at_the_beliefs_never_fall"]),
    "a sweep lowers what Perseus has kept": (
        SOLVERS + "_backups", "        if better(old[best], np.dot(new[i], points[i])):", "        if False:",
        [POINTS + "test_a_sweep_lowers_nothing_that_was_kept"]),
    "the first vector is no lower bound": (
        SOLVERS + "_alpha_vectors", "alpha[~ends] = worst / (1.0 - pomdp.gamma)", "alpha[~ends] = 0.0 * worst",
        [POINTS + "test_the_first_vector_is_a_lower_bound"]),
    "the first vector where episodes end and rewards are positive": (
        SOLVERS + "_alpha_vectors", "np.inf if not ends.any() else 0.0", "np.inf",
        [POINTS + "test_the_first_vector_is_a_lower_bound"]),
    "the vector's own action instead of the best one ahead": (
        SOLVERS + "_alpha_vectors", "return Decision(first_best(q, self._size), None", "return Decision(self.action(b), None",
        [ALPHA + "test_a_step_ahead_is_better_than_the_vectors"]),
    "no expansion": (
        SOLVERS + "pbvi", "            if better(d, distance[i], 1.0):", "            if d > 2.0:", [POINTS + "test_tiger_by_points"]),
    "the nearest successor is added": (
        SOLVERS + "pbvi", "            if better(d, distance[i], 1.0):", "            if d > NEAR and (distance[i] == 0.0 or d < distance[i]):",
        [POINTS + "test_the_farthest_successor_is_added"]),
    "new beliefs that are near each other": (
        SOLVERS + "pbvi", "distance[j] = min(distance[j], np.abs(found[j] - found[i]).sum())", "distance[j] = distance[j] + 0.0",
        [POINTS + "test_the_farthest_successor_is_added"]),
    "a sweep is enough": (
        SOLVERS + "pbvi", "while moved >= move and n < most:", "while n < 1:", [POINTS + "test_fixed_point_on_given_beliefs"]),
    "Perseus keeps what lowers a belief": (
        SOLVERS + "perseus", "        if better(values[i, best], np.dot(new[n], points[i])):", "        if False:",
        [POINTS + "test_stages_never_fall"]),
    "Perseus backs up every belief": (
        SOLVERS + "perseus", "        if not better(values[i, best], v[i]):\n            continue\n", "", [PERSEUS]),
    "a stage that moves nothing is the end": (
        SOLVERS + "perseus", "                if moved < move:\n                    return", "                if True:\n                    return",
        [POINTS + "test_perseus_goes_on_after_an_idle_stage"]),
    "the fast informed bound as QMDP": (
        SOLVERS + "_bounds", "x[m.sign[y, a, l], b] += p * m.sign_prob[h, l] * alpha[b, y]",
        "x[m.sign[y, a, l], b] += p * m.sign_prob[h, l] * alpha[:, y].max()", [BOUNDS]),
    "the fast informed bound blind": (
        SOLVERS + "_bounds", "x[m.sign[y, a, l], b]", "x[0, b]", [BOUNDS]),
    "QMDP without its maximum": (
        SOLVERS + "_bounds", "    q = solved.q + pomdp.gamma * solved.error_bound", "    q = 0.0 * solved.q + solved.q.mean(axis=1, keepdims=True)",
        [BOUNDS]),
    "a file forgets which action": (
        SOLVERS + "_alpha_file", "actions.append(names[words[0]])", "actions.append(0)", [ALPHA + "test_files_come_back"]),
}  # fmt: skip


@pytest.mark.parametrize("name", MUTANTS)
def test_mutant_is_caught(name, assert_caught):
    assert_caught(name, *MUTANTS[name])
