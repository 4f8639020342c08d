"""A grid of blocks with one reward each (Abbeel and Ng 2004; Choi and Kim 2011, 2012; survey §7.2).

The n by n cells are states y n + x. Actions are north, south, west and east. With probability `noise` the move is
uniform over all four, the intended one included. A move into a wall stays. Blocks of `block` by `block` cells have one
weight each, and a state pays the weight of its block. The last block has weight 1, ceil(.3 d) others are uniform on
[-1, 0], and the rest is 0. Episodes start anywhere.

Provenance: sizes, noise and weights are found in Choi and Kim's public code. With several experts it has n = 8, blocks
of 2 and noise .4; with one expert n = 8, blocks of 1 and noise .3.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from bayesrl.checks import Floats, array, integer, number
from bayesrl.errors import InvalidArgument
from bayesrl.models.mdp import TabularMDP
from bayesrl.registry import register
from bayesrl.worlds.mdps.cells import DOWN, LEFT, RIGHT, UP, walk
from bayesrl.worlds.settings import Setting
from bayesrl.worlds.tasks._featured import FeaturedWorld

ACTIONS = ("north", "south", "west", "east")
LARGEST = 64
"""Cells along a side."""


@register(
    "gridworld-blocks",
    kind="world",
    survey="7.2",
    paper="Choi12NV",
    evidence=(
        "tests/worlds/tasks/test_gridworld_blocks.py::test_values_of_the_facts",
        "tests/worlds/tasks/test_gridworld_blocks.py::test_moves_by_hand",
    ),
)
def gridworld_blocks(
    size: int = 8, block: int = 2, noise: float = 0.4, gamma: float = 0.9, weights: ArrayLike | None = None
) -> FeaturedWorld:
    """A noisy grid whose blocks pay different rewards.

    `features` (S, d) says in which block a cell lies, and `weights` (d,) what the blocks pay. Without `weights`, those
    of the literature are drawn from a fixed seed: the world is always the same. `block_weights` draws others.

    Examples
    --------
    >>> world = gridworld_blocks(size=4)
    >>> world.features.shape, world.weights.round(2).tolist()
    ((16, 4), [-0.73, 0.0, -0.36, 1.0])
    """
    owner = "gridworld-blocks"
    n, width = integer(owner, "size", size, 1, LARGEST), integer(owner, "block", block, 1, LARGEST)
    slip, gamma = number(owner, "noise", noise, 0.0, 1.0), number(owner, "gamma", gamma, 0.0, 1.0, below=True)
    if n % width:
        raise InvalidArgument(owner, "block", f"a divisor of the size, {n}", block)
    x, y = np.arange(n * n) % n, np.arange(n * n) // n
    d = (n // width) ** 2
    features = np.eye(d)[(y // width) * (n // width) + x // width]
    w = block_weights(d, np.random.default_rng(0)) if weights is None else array(owner, "weights", weights, (d,))
    certain = walk(list(zip(x.tolist(), y.tolist(), strict=True)), (UP, DOWN, LEFT, RIGHT), slip=0.0)
    P = (1.0 - slip) * certain + slip * certain.mean(axis=1, keepdims=True)
    mdp = TabularMDP.from_dense(P, features @ w, gamma, np.full(n * n, 1.0 / n**2))
    layout = np.arange(n * n, dtype=np.int32).reshape(1, n, n)
    return FeaturedWorld(owner, mdp, Setting(steps=600), ACTIONS, layout, features, w)


def block_weights(d: int, rng: np.random.Generator) -> Floats:
    """Weights of d blocks as in the literature: the last 1, ceil(.3 d) of the others uniform on [-1, 0], the rest 0."""
    w = np.zeros(d)
    w[-1] = 1.0
    n = min(math.ceil(0.3 * d), d - 1)
    w[rng.choice(d - 1, n, replace=False) if n else []] = rng.uniform(-1.0, 0.0, n)
    return w
