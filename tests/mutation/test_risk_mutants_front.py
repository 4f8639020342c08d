"""Planted bugs in the worlds, pictures and the command of chapter 6; see test_mutants.py."""

import pytest

WORLDS, STATIONARY = "tests/worlds/test_risk_worlds.py::", "tests/risk/test_stationary.py::"
PLOTS, MAPS, LOGS = (f"tests/lab/test_{name}.py::" for name in ("risk_plots", "policy_maps", "logs"))
COMMAND = "tests/cli/test_risk.py::"
MACHINE, STOCK = "bayesrl.worlds.risk.machine_replacement", "bayesrl.worlds.risk.inventory_binomial"

MUTANTS = {
    # name: (module, old, new, tests)
    "a long repair ends at once": (
        MACHINE, "P[LONG, 1, [REPAIR, LONG]] = 0.6, 0.4", "P[LONG, 1, [REPAIR, LONG]] = 1.0, 0.0",
        [WORLDS + "test_machine_replacement_by_hand"]),
    "the state that is left pays": (
        MACHINE, 'REWARD if paid == "reached" else', 'REWARD if paid == "current" else',
        [WORLDS + "test_machine_replacement_is_worth_what_was_computed"]),
    "units beyond the capacity are paid for": (
        STOCK, "cost = COST * (level - stock[:, None, None])", "cost = COST * stock[None, :, None]",
        [WORLDS + "test_inventory_binomial_by_hand"]),
    "buyers and others are exchanged": (
        STOCK, "BUYS**d * (1.0 - BUYS) ** (CUSTOMERS - d)", "(1.0 - BUYS) ** d * BUYS ** (CUSTOMERS - d)",
        [WORLDS + "test_inventory_binomial_is_worth_what_was_computed"]),
    "days of one level are not tied": (
        STOCK, "group=level[:, :, 0]", "group=np.maximum(level[:, :, 0] - stock, 0)",
        [WORLDS + "test_days_with_the_same_stock_after_delivery_are_tied"]),
    "the best models count": (
        "bayesrl.risk._stationary", 'np.argsort(returns, kind="stable")', 'np.argsort(-returns, kind="stable")',
        [STATIONARY + "test_worth_and_gradient"]),
    "visits are not weighted": (
        "bayesrl.risk._stationary", "weight, d.start @ X, q", "weight, X.mean(axis=1), q",
        [STATIONARY + "test_worth_and_gradient"]),
    "each policy has its own models": (
        "bayesrl.lab.risk", "mu, n, deepcopy(rng))", "mu, n, rng)",
        [PLOTS + "test_policies_are_assessed_on_common_models"]),
    "the percentile from the wrong end": (
        "bayesrl.lab.risk", "np.quantile(returns, epsilon)", "np.quantile(returns, 1.0 - epsilon)",
        [PLOTS + "test_policies_are_assessed_on_common_models"]),
    "the lines are exchanged": (
        "bayesrl.lab.plots.risk", '(each.cvar, ":"', '(each.guarantee, ":"',
        [PLOTS + "test_what_is_drawn_is_what_was_assessed"]),
    "returns far off are left out": (
        "bayesrl.lab.plots.risk", "np.clip(each.returns, *edges[[0, -1]]), edges.tolist(), color=colour, alpha=0.35, density=True",
        "each.returns, edges.tolist(), color=colour, alpha=0.35, weights=np.full(len(each.returns), "
        "1.0 / len(each.returns) / (edges[1] - edges[0]))",
        [PLOTS + "test_what_is_drawn_is_what_was_assessed"]),
    "arrows do not show probabilities": (
        "bayesrl.lab.plots.explanation", "(1.6 * p, 0.0)", "(1.6, 0.0)",
        [MAPS + "test_arrows_are_as_long_as_their_actions_are_probable"]),
    "runs are read step by step": (
        "bayesrl.io.logs", "column.T.ravel()", "column.ravel()", [LOGS + "test_all_runs_of_a_comparison_are_read"]),
    "the value is the mean": (
        "bayesrl.cli.risk", '"value": chosen["quantile"]', '"value": chosen["mean"]', [COMMAND + "test_json"]),
    "the log is not read": (
        "bayesrl.cli.risk", "belief.update_many(load_log(data))", "belief", [COMMAND + "test_data_that_do_not_fit"]),
}  # fmt: skip


@pytest.mark.parametrize("name", MUTANTS)
def test_mutant_is_caught(name, assert_caught):
    assert_caught(name, *MUTANTS[name])
