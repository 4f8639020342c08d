"""The tree of a forward search on Gaussian-process dynamics, grown in compiled code.

A node at level l has one row of observations in level l's array. Its child i of action a has row (node A + a) C + i in
the next one. The same standard normal numbers serve all actions: those of a node depend on what was drawn before, not
on what was done.
"""

from __future__ import annotations

import numpy as np
from numpy.random import default_rng

from bayesrl.beliefs.dynamics._gp_arrays import Processes, learn, predict
from bayesrl.beliefs.dynamics.strata import OVER, one_of_each_stratum
from bayesrl.checks import Floats, Ints
from bayesrl.kernels.arrays import F2
from bayesrl.kernels.jit import njit


def grown(gp: Processes, start: Floats, actions: Floats, width: int, seeds: tuple[Ints, ...]) -> list[Floats]:
    """Observations of each level, the first of shape (1, d), the next (A C, d), and so on. `gp` has room for the tree.

    `seeds` are those of the nodes of each level: (1,), (C,), (C^2,), ... The numbers are those that `draw` would draw.
    """
    d, T = len(start), len(seeds)
    z = [np.array([numbers_of(int(one), width, d) for one in level]) for level in seeds]
    sizes = [(len(actions) * width) ** level for level in range(T + 1)]
    rows = np.empty((sum(sizes), d))
    rows[0] = start
    if T > 0:
        flat = np.concatenate([one.reshape(-1, d) for one in z])
        full = np.zeros((len(flat), len(gp.w)))  # a learned reward is seen at its mean
        full[:, :d] = flat
        room = np.empty((2, T, len(gp.w)))
        expand(gp, len(gp.X) - T, rows, actions, full, width, 0, 0, 0, 0, 0, room[0], room[1])
    return [rows[sum(sizes[:level]) : sum(sizes[: level + 1])] for level in range(T + 1)]


def numbers_of(seed: int, width: int, d: int) -> Floats:
    """The standard normal numbers of a node, (C, d), one of each stratum."""
    rng = default_rng(seed)
    many = rng.standard_normal((OVER * width, d))
    return np.asarray(many[one_of_each_stratum(many, width, rng)])


@njit
def expand(
    gp: Processes, n: int, rows: F2, A: F2, z: F2, C: int, level: int, node: int, first: int, same: int, before: int,
    mean: F2, deviation: F2,
) -> None:  # fmt: skip
    """Draw the children of a node, and theirs.

    Rows of this level begin at `first`. `same` counts what was drawn before; random numbers of the level begin at
    `before`.
    """
    d, size, shared = rows.shape[1], (len(A) * C) ** level, C**level
    s, m, sd = rows[first + node], mean[level], deviation[level]
    for k in range(len(A)):
        predict(gp, n + level, s, A[k], m, sd)
        for i in range(C):
            child, number = (node * len(A) + k) * C + i, z[before + same * C + i]
            for p in range(d):
                rows[first + size + child, p] = m[p] + sd[p] * number[p]
            if level + 1 < len(mean):
                learn(gp, n + level, number)
                after = before + shared * C
                expand(gp, n, rows, A, z, C, level + 1, child, first + size, same * C + i, after, mean, deviation)
