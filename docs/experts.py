"""Figures of docs/inverse.md: what MAP loses, and how well EM sorts experts. Run it with `python docs/experts.py`.

One line for each seed, then means with 95% intervals (Student) over the seeds. `map` takes a minute, `em` an hour.
"""

from __future__ import annotations

import sys
from math import comb

import numpy as np

import bayesrl as b
from bayesrl.inverse import BIRL, DPMBIRL, demonstrate, value_loss
from bayesrl.statistics import mean_interval
from bayesrl.worlds.tasks.gridworld_blocks import block_weights

SEEDS = 20


def map_loss(seed, block, noise, confidence):
    """What MAP loses as a share of what random policies lose: ten trajectories of sixty steps of an optimal expert."""
    rng = np.random.default_rng(seed)
    world = b.make_world("gridworld-blocks", block=block, noise=noise, weights=block_weights((8 // block) ** 2, rng))
    R = world.features @ world.weights
    belief = BIRL(world, features=world.features, confidence=confidence)
    found = b.make("map-birl").solve(belief.update_many(demonstrate(world, R, 10, 60, rng)), rng)
    at_random = np.mean([value_loss(world, R, rng.integers(4, size=64)) for _ in range(100)])
    return value_loss(world, R, found.policy) / at_random


def rand_index(seed, confidence, other_goals):
    """Adjusted Rand index of EM with three experts, six trajectories of sixty steps each."""
    rng = np.random.default_rng(seed)
    world = b.make_world("gridworld-blocks")
    logs = []
    for _ in range(3):
        w = block_weights(16, rng)
        w = rng.permutation(w) if other_goals else w
        logs += demonstrate(world, world.features @ w, 6, 60, rng, confidence)
    belief = DPMBIRL(world, features=world.features, confidence=10.0).update_many(logs)
    z = b.make("em-irl", clusters=3).solve(belief, rng).responsibilities.argmax(axis=1)
    return adjusted_rand_index(np.repeat(np.arange(3), 6), z)


def adjusted_rand_index(x, y):
    """Agreement of two clusterings: 1 if they are equal, 0 on average at random (Hubert and Arabie 1985)."""
    table = np.array([[((x == i) & (y == j)).sum() for j in np.unique(y)] for i in np.unique(x)])
    both, rows, columns = (
        sum(comb(int(n), 2) for n in part) for part in (table.ravel(), table.sum(axis=1), table.sum(axis=0))
    )
    expected, most = rows * columns / comb(len(x), 2), (rows + columns) / 2
    return 1.0 if most == expected else (both - expected) / (most - expected)


CASES = {
    "map": {
        "MAP, blocks of 2, noise .4, confidence 10": lambda seed: map_loss(seed, 2, 0.4, 10.0),
        "MAP, blocks of 1, noise .3, confidence 2": lambda seed: map_loss(seed, 1, 0.3, 2.0),
    },
    "em": {
        "EM, optimal experts with other goals": lambda seed: rand_index(seed, None, True),
        "EM, experts with confidence 10 and other goals": lambda seed: rand_index(seed, 10.0, True),
        "EM, optimal experts with the same goal": lambda seed: rand_index(seed, None, False),
        "EM, experts with confidence 10 and the same goal": lambda seed: rand_index(seed, 10.0, False),
    },
}

if __name__ == "__main__":
    for part in sys.argv[1:] or CASES:
        for name, measure in CASES[part].items():
            found = []
            for seed in range(SEEDS):
                found.append(measure(seed))
                print(name, seed, round(found[-1], 4), flush=True)
            print("{}: {:.3f} [{:.3f}, {:.3f}]".format(name, *mean_interval(found)[:3]), flush=True)
