"""Planted bugs in k-of-n, its draws and the inventory; see test_mutants.py."""

import pytest

TEST, STOCK = "tests/risk/test_k_of_n.py::", "tests/risk/test_inventory.py::"
SOLVER, GAME, DRAWS = (f"bayesrl.risk.{name}" for name in ("k_of_n", "_regret_matching", "_draws"))
WORLD = "bayesrl.worlds.risk.inventory"
PLUS, PLAIN = (TEST + f"test_transcription[{variant}]" for variant in ("plus", "plain"))
TABLES, SAMPLED = TEST + "test_drawn_tables_are_sampled_models", TEST + "test_two_gaussian_actions"
ROWS, VALUES = STOCK + "test_rows_by_hand", STOCK + "test_computed_values"

MUTANTS = {
    # name: (module, old, new, tests)
    "the best k count": (
        GAME, "returns[j] < worst[i - 1]", "returns[j] > worst[i - 1]", [PLUS]),
    "action probabilities are averaged": (
        GAME, "total[i, a] += weight * x[i, a]", "total[i, a] += weight * sigma[i, a]", [PLUS]),
    "all iterations count the same": (
        GAME, "weight = done + t + 1.0 if plus else 1.0", "weight = 1.0", [PLUS]),
    "the paper's iterations do not count the same": (
        GAME, "weight = done + t + 1.0 if plus else 1.0", "weight = done + t + 1.0", [PLAIN]),
    "the paper's regrets are cut": (
        GAME, "                if plus:\n", "                if True:\n", [PLAIN]),
    "regrets are never cut": (
        GAME, "                if plus:\n", "                if False:\n", [PLUS]),
    "regrets are not weighted by the models' moves": (
        GAME, "q[i, a] += reach[i, j] * R[pair, j]", "q[i, a] += R[pair, j]", [PLUS]),
    "regrets are weighted by the player's own moves": (
        GAME, "regret[i, a] += q[i, a] - v", "regret[i, a] += arrive[i] * (q[i, a] - v)", [PLUS]),
    "regrets of actions are not centred": (
        GAME, "regret[i, a] += q[i, a] - v", "regret[i, a] += q[i, a]", [PLUS]),
    "the discount is forgotten": (
        GAME, "discount = np.asarray(model.gamma**sets.step, np.float64)", "discount = np.ones(len(sets))", [PLUS]),
    "the strategy of a drawn iteration is the average": (
        SOLVER, 'frozen(now if self.strategy == "random" else strategy_of(total, now))', "frozen(strategy_of(total, now))",
        [PLUS]),
    "the value of all draws": (
        SOLVER, "axis=1)[:, : self.k]", "axis=1)", [SAMPLED]),
    "the value of the best draws": (
        SOLVER, "axis=1)[:, : self.k]", "axis=1)[:, -self.k :]", [SAMPLED]),
    "occupancies without transitions": (
        GAME, "q[i, a] += game.flow[e] * v[game.child[e]]", "q[i, a] += v[game.child[e]]",
        [TEST + "test_shared_transitions_equal_histories"]),
    "known rows are drawn": (
        DRAWS, "            rows[:, belief.known] = belief.alpha[belief.known]\n", "", [TABLES]),
    "next states are drawn for another pair": (
        DRAWS, "cell = model.group[s, a] * K + k", "cell = model.group[s, 0] * K + k", [TABLES]),
    "drawn rewards are the mean model's": (
        DRAWS, "np.stack([m.mean_reward.ravel() for m in models], axis=1)",
        "np.stack([models[0].mean_reward.ravel() for m in models], axis=1)", [TABLES]),
    "uncertain transitions are taken for known": (
        DRAWS, "_knows_transitions(belief)\n        made", "True\n        made", [TABLES]),
    "all models are equally probable": (
        DRAWS, "rng.choice(len(self.weights), m, p=self.weights)", "rng.choice(len(self.weights), m)", [PLUS]),
    "the theorem's delta once": (
        SOLVER, "(T * spread * I / (d * e)) ** 2", "(T * spread * I / e) ** 2 / d", [TEST + "test_iterations_of_the_theorem"]),
    "lost orders are free": (
        WORLD, "- COST * a - HOLDING * (x - k)", "- COST * (x - s) - HOLDING * (x - k)", [ROWS]),
    "what was ordered is held too": (
        WORLD, "- COST * a - HOLDING * (x - k)", "- COST * a - HOLDING * x", [VALUES]),
    "rows are not normalised": (
        WORLD, "np.where(k == x, above, 0.0)", "np.where(k == x, 1.0 - ndtr((k - 0.5 - M / 2.0) / (M / 6.0)) + ndtr(-3.0 - 3.0 / M), 0.0)",
        [VALUES]),
}  # fmt: skip


@pytest.mark.parametrize("name", MUTANTS)
def test_mutant_is_caught(name, assert_caught):
    assert_caught(name, *MUTANTS[name])
