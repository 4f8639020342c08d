"""Sub-goals of one long demonstration: how well BNIRL cuts it into parts (docs/inverse.md).

    python docs/sub_goals.py

On a 10 by 10 grid with noise .1 an expert walks twenty steps to each of three corners. Figures are means over ten seeds
and twice their standard errors.
"""

from __future__ import annotations

import warnings

import numpy as np
from numpy.random import default_rng

import bayesrl as b
from bayesrl.beliefs.chain import PoorMixing
from bayesrl.inverse import BNIRL, demonstrate

CORNERS, STEPS, DROPPED = (99, 9, 90), 20, 1000


def one(seed):
    """(clusters, co-assignment of observations of the same part, of different parts)."""
    rng, world = default_rng(seed), b.make_world("gridworld-blocks", size=10, block=1, noise=0.1)
    logs = [demonstrate(world, np.eye(100)[goal], 1, STEPS, rng)[0] for goal in CORNERS]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PoorMixing)
        belief = BNIRL(world, rationality=20.0, concentration=0.1).update_many(logs).refresh(rng, sweeps=5000)
    z, part = belief.assignments[DROPPED:], np.repeat(np.arange(len(CORNERS)), STEPS)
    co = (z[:, :, None] == z[:, None, :]).mean(axis=0)
    same, others = part[:, None] == part, ~np.eye(len(part), dtype=bool)
    return z.max(axis=1).mean() + 1.0, co[same & others].mean(), co[~same].mean()


if __name__ == "__main__":
    found = np.array([one(seed) for seed in range(10)])
    print(found.mean(axis=0).round(3), (2.0 * found.std(axis=0, ddof=1) / np.sqrt(len(found))).round(3))
