"""Simulating unknown transitions and unknown rewards together: a second urn pays.

If rewards take finitely many values, a cell's reward is an outcome like any other: an urn over the values, whose balls
are the counts of the reward belief. A step draws where the action leads, then what it pays. Histories differ by both.
"""

from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from bayesrl.kernels.arrays import F1, I1, I3
from bayesrl.kernels.jit import njit
from bayesrl.kernels.simulator import begin, forget, implements, step, wander
from bayesrl.kernels.urn import SparseUrn, Urn, draw, rollout_action, signed


class PaidUrn(NamedTuple):
    """Urns for transitions, and one for the reward of each cell."""

    moves: Urn | SparseUrn  # Urn or SparseUrn; its rewards are not used
    pays: Urn  # one group for each cell, one outcome for each value
    cell: I3  # (S, A, K) the cell of outcome k
    values: F1  # (V,) the rewards there can be


@implements(begin, PaidUrn)
@njit
def _begin(model: PaidUrn, rng: Generator) -> None:
    pass


@implements(step, PaidUrn)
@njit
def _step(model: PaidUrn, s: int, a: int, rng: Generator) -> tuple[int, int, float, bool, int]:
    g, i = model.moves.place[s, a, 0], model.moves.place[s, a, 1]
    k = draw(model.moves, g, rng)
    y = model.moves.succ[i, k]
    c = model.cell[s, a, k]
    j = draw(model.pays, c, rng)
    mark = int(g) * len(model.pays.rows) + c
    return int(k) * len(model.values) + int(j), signed(y), model.values[j], model.moves.terminal[y], mark


implements(wander, PaidUrn)(rollout_action)


@implements(forget, PaidUrn)
@njit
def _forget(model: PaidUrn, marks: I1, n: int) -> None:
    C = len(model.pays.rows)
    mark = np.empty(1, np.int64)
    for t in range(n):
        mark[0] = marks[t] // C
        forget(model.moves, mark, 1)
        mark[0] = marks[t] % C
        forget(model.pays, mark, 1)
