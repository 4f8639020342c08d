"""Figures of docs/inverse.md: what MAP loses, and how well EM sorts experts. Run it with `python docs/experts.py`.

One line for each seed, then means with 95% intervals (Student) over the seeds. `map` and `truth` take a minute each,
`em` takes half an hour.
"""

from __future__ import annotations

import sys
from functools import partial
from math import comb

import numpy as np

import bayesrl as b
from bayesrl.inverse import BIRL, DPMBIRL, boltzmann_log_likelihood, demonstrate, value_loss
from bayesrl.statistics import mean_interval
from bayesrl.worlds.tasks.gridworld_blocks import block_weights

SEEDS = 20


def map_loss(seed, block, noise, rationality):
    """What MAP loses as a share of what random policies lose: ten trajectories of sixty steps of an optimal expert."""
    rng = np.random.default_rng(seed)
    world = b.make_world("gridworld-blocks", block=block, noise=noise, weights=block_weights((8 // block) ** 2, rng))
    R = world.features @ world.weights
    belief = BIRL(world, features=world.features, rationality=rationality)
    found = b.make("map-birl").solve(belief.update_many(demonstrate(world, R, 10, 60, rng)), rng)
    at_random = np.mean([value_loss(world, R, rng.integers(4, size=64)) for _ in range(100)])
    return value_loss(world, R, found.policy) / at_random


def three_experts(seed, rationality, other_goals):
    """A world, the weights of three experts, six trajectories of sixty steps of each, and the generator after that."""
    rng = np.random.default_rng(seed)
    world, truth, logs = b.make_world("gridworld-blocks"), [], []
    for _ in range(3):
        w = block_weights(16, rng)
        truth.append(rng.permutation(w) if other_goals else w)
        logs += demonstrate(world, world.features @ truth[-1], 6, 60, rng, rationality)
    return world, truth, logs, rng


def rand_index(seed, rationality, other_goals):
    """Adjusted Rand index of EM with three experts."""
    world, _, logs, rng = three_experts(seed, rationality, other_goals)
    belief = DPMBIRL(world, features=world.features, rationality=10.0).update_many(logs)
    z = b.make("em-irl", clusters=3).solve(belief, rng).responsibilities.argmax(axis=1)
    return adjusted_rand_index(np.repeat(np.arange(3), 6), z)


def rand_index_of_truth(seed, rationality, other_goals):
    """The same if each trajectory goes to the expert under whose true weights it is most probable."""
    world, truth, logs, _ = three_experts(seed, rationality, other_goals)
    fits = [[boltzmann_log_likelihood(world, w, 10.0, log, world.features)[0] for w in truth] for log in logs]
    return adjusted_rand_index(np.repeat(np.arange(3), 6), np.argmax(fits, axis=1))


def adjusted_rand_index(x, y):
    """Agreement of two clusterings: 1 if they are equal, 0 on average at random (Hubert and Arabie 1985)."""
    table = np.array([[((x == i) & (y == j)).sum() for j in np.unique(y)] for i in np.unique(x)])
    both, rows, columns = (
        sum(comb(int(n), 2) for n in part) for part in (table.ravel(), table.sum(axis=1), table.sum(axis=0))
    )
    expected, most = rows * columns / comb(len(x), 2), (rows + columns) / 2
    return 1.0 if most == expected else (both - expected) / (most - expected)


EXPERTS = (
    ("optimal experts with other goals", None, True),
    ("experts with rationality 10 and other goals", 10.0, True),
    ("optimal experts with the same goal", None, False),
    ("experts with rationality 10 and the same goal", 10.0, False),
)
CASES = {
    "map": {
        "MAP, blocks of 2, noise .4, rationality 10": lambda seed: map_loss(seed, 2, 0.4, 10.0),
        "MAP, blocks of 1, noise .3, rationality 2": lambda seed: map_loss(seed, 1, 0.3, 2.0),
    },
    "em": {f"EM, {name}": partial(rand_index, rationality=c, other_goals=g) for name, c, g in EXPERTS},
    "truth": {
        f"True weights, {name}": partial(rand_index_of_truth, rationality=c, other_goals=g) for name, c, g in EXPERTS
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
