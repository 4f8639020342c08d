"""Simulating unknown transitions and unknown rewards together: a second urn pays.

Where rewards take finitely many values, a cell's reward is an outcome like any other: an urn over the values, whose
balls are the counts of the reward belief. A step draws where the action leads, then what it pays; both are outcomes by
which histories are told apart.
"""

from typing import Any, NamedTuple

import numpy as np

from bayesrl.kernels.jit import njit
from bayesrl.kernels.simulator import begin, forget, implements, step, wander
from bayesrl.kernels.urn import Urn, draw, rollout_action


class PaidUrn(NamedTuple):
    """Urns for transitions, and one for the reward of each cell."""

    moves: Any  # Urn or SparseUrn; its rewards are not used
    pays: Urn  # one group for each cell, one outcome for each value
    cell: np.ndarray  # (S, A, K) the cell of outcome k
    values: np.ndarray  # (V,) the rewards there can be


@implements(begin, PaidUrn)
@njit
def _begin(model, rng):
    pass


@implements(step, PaidUrn)
@njit
def _step(model, s, a, rng):
    g, i = model.moves.place[s, a, 0], model.moves.place[s, a, 1]
    k = draw(model.moves, g, rng)
    y = model.moves.succ[i, k]
    c = model.cell[s, a, k]
    j = draw(model.pays, c, rng)
    mark = int(g) * len(model.pays.rows) + c
    return int(k) * len(model.values) + int(j), np.int64(y), model.values[j], model.moves.terminal[y], mark


implements(wander, PaidUrn)(rollout_action)


@implements(forget, PaidUrn)
@njit
def _forget(model, marks, n):
    C = len(model.pays.rows)
    mark = np.empty(1, np.int64)
    for t in range(n):
        mark[0] = marks[t] // C
        forget(model.moves, mark, 1)
        mark[0] = marks[t] % C
        forget(model.pays, mark, 1)
