"""Several experts on the grid of blocks: how well DPM-BIRL finds who gave which trajectory (docs/inverse.md).

    python docs/several_experts.py [REPETITIONS]

Three experts give six trajectories of sixty steps each on the 8 by 8 grid with blocks of 2 and noise .4. An expert is
optimal for its weights, which are drawn as in the literature: all experts want the last block and avoid different ones.
Experts "with different goals" have these weights in random order. The score is the adjusted Rand index of a drawn
clustering, averaged over the second half of 100 sweeps; the interval is the mean and twice its standard error.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import numpy as np
from numpy.random import default_rng

import bayesrl as b
from bayesrl.beliefs.chain import PoorMixing
from bayesrl.inverse import DPMBIRL, GaussianPrior, UniformPrior, demonstrate, value_loss
from bayesrl.models.solve import solve
from bayesrl.worlds.tasks.gridworld_blocks import block_weights

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "helpers"))
from plain_clusters import adjusted_rand

PRIORS = {"uniform on [-1, 1]": UniformPrior(-1.0, 1.0), "Gaussian, .1": GaussianPrior(0.0, 0.1, -1.0, 1.0)}


def one(prior, step, seed, sweeps=100, shuffled=False):
    """(adjusted Rand index, number of clusters, mean value loss of trajectories' experts, share of accepted steps)."""
    rng, world = default_rng(seed), b.make_world("gridworld-blocks")
    truth = [block_weights(16, rng) for _ in range(3)]
    truth = [rng.permutation(w) for w in truth] if shuffled else truth
    logs = [demo for w in truth for demo in demonstrate(world, world.features @ w, 6, 60, rng)]
    belief = DPMBIRL(world, world.features, prior, rationality=10.0, concentration=1.0, step=step)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PoorMixing)
        belief = belief.update_many(logs).refresh(rng, sweeps)
    who, late = np.repeat(np.arange(3), 6), belief.assignments[sweeps // 2 :]
    score = np.mean([adjusted_rand(z, who) for z in late])
    mean = belief.samples[sweeps // 2 :].mean(axis=0)
    loss = np.mean(
        [
            value_loss(world, world.features @ truth[k], solve(belief.rewards.model(w)).policy)
            for k, w in zip(who, mean, strict=True)
        ]
    )
    return score, np.mean(late.max(axis=1) + 1), loss, belief.diagnostics().acceptance


def main(repetitions: int) -> None:
    """Print a line for each prior and kind of experts."""
    for name, prior in PRIORS.items():
        for shuffled in (False, True):
            found = np.array([one(prior, 0.03, seed, shuffled=shuffled) for seed in range(repetitions)])
            mean, error = found.mean(axis=0), 2.0 * found.std(axis=0, ddof=1) / np.sqrt(repetitions)
            text = " | ".join(f"{m:.2f} ± {e:.2f}" for m, e in zip(mean, error, strict=True))
            print(f"| {name} | {'different' if shuffled else 'the same'} | {text} |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
