"""Measure what `docs/risk.md` says about policies of several criteria, and draw its picture (some minutes):

python docs/risk_policies.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.random import default_rng

import bayesrl as b
from bayesrl.lab.risk import assess, policies_for
from bayesrl.models.solve import evaluate_policy
from bayesrl.statistics import mean_interval

EPSILON, LOGS = 0.05, 20
CRITERIA = ("percentile", "max-min", "cvar")
STEPS = {"inventory-binomial": (60, 240), "machine-replacement": (60, 500)}


def belief_after(world: object, steps: int, seed: int) -> b.DirichletMDP:
    """The posterior after random steps."""
    prior = b.DirichletMDP.structured(world)
    return prior.update_many(b.run(b.BayesAgent(prior, b.make("random")), world, steps, seed=seed))


def compare(name: str, steps: int) -> None:
    """Print, for each criterion, its gains over the nominal policy: mean over logs with a 95% interval."""
    world, gains = b.make_world(name), {criterion: [] for criterion in CRITERIA}
    for seed in range(LOGS):
        belief = belief_after(world, steps, seed)
        policies = policies_for(belief, CRITERIA, EPSILON, default_rng(seed))
        found = assess(belief, policies, EPSILON, rng=default_rng((seed, 1)))
        earned = {k: float(world.mdp.outcomes.start @ evaluate_policy(world, mu)) for k, mu in policies.items()}
        for k in CRITERIA:
            ours, nominal = found[k], found["nominal"]
            posterior = [ours.mean - nominal.mean, ours.quantile - nominal.quantile, ours.cvar - nominal.cvar]
            gains[k].append([*posterior, earned[k] - earned["nominal"]])
    for k, rows in gains.items():
        cells = [mean_interval(column, 0.95) for column in np.array(rows).T]
        said = " | ".join(f"{x.mean:+.3f} ({x.low:+.3f} to {x.high:+.3f})" for x in cells)
        print(f"| `{name}`, {steps} | {k} | {said} |", flush=True)


def sigma_points() -> None:
    """Print what `sigma-point-robust` earns in `machine-repair`, and how often it ends with the best policy."""
    world = b.make_world("machine-repair")
    prior = b.DirichletMDP.structured(world, 1.0)
    for beta in (0.0, 0.5, 1.0, 2.0):
        agent = b.BayesAgent(prior, b.make("sigma-point-robust", beta=beta))
        runs = [b.run(agent, world, steps=100, seed=seed) for seed in range(1000)]
        best = [bool((run.action[-10:] == 0).all()) for run in runs]
        print(beta, mean_interval([run.total for run in runs]), mean_interval(np.array(best, float)), flush=True)


def picture() -> None:
    """Draw the returns of four policies after sixty random days, the log of the page."""
    belief = belief_after(b.make_world("inventory-binomial"), 60, 0)
    policies = policies_for(belief, CRITERIA, EPSILON, default_rng(0))
    b.lab.plot_values(belief, policies, Path(__file__).parent / "images" / "risk-returns.png", epsilon=EPSILON)


if __name__ == "__main__":
    picture()
    sigma_points()
    for name, lengths in STEPS.items():
        for steps in lengths:
            compare(name, steps)
