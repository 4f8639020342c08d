"""A further task gains from twelve others over a flat prior, and unrelated tasks lose nothing (synthetic chains)."""

import numpy as np
import pytest
from chains_of_values import gains, lost

slow_chains = pytest.mark.filterwarnings("ignore::bayesrl.beliefs.chain.PoorMixing")


@slow_chains
def test_a_further_task_gains():
    """Three draws of one class: the log score gains with both solvers."""
    made, _ = gains(range(3), "one class", 100)
    assert all(mean[0] > 0.0 for mean, _ in made.values())


@slow_chains
@pytest.mark.long
@pytest.mark.parametrize("setting", ["one class", "three classes", "unrelated"])
def test_gains_of_related_tasks_and_no_loss_of_unrelated_ones(setting):
    """Log scores of forty draws: related tasks gain three standard errors, unrelated ones lose at most one."""
    made, _ = gains(range(40), setting)
    mean, error = made["DP"]
    assert mean[0] > (-1.0 if setting == "unrelated" else 3.0) * error[0]


@slow_chains
@pytest.mark.long
def test_policies_found_together_lose_less():
    """Six draws of one class: thirty steps a task are few for a flat prior. On average both solvers lose less."""
    shares = [lost(seed, "one class") for seed in range(6)]
    flat, em, dp = (np.mean([one[name] for one in shares]) for name in ("flat", "EM", "DP"))
    assert max(em, dp) < flat
