"""Polya urns for unknown transitions together with unknown rewards of finitely many values.

Each cell has an urn over the values of its reward, whose balls are the counts of the reward belief. A step draws the
next state, then the reward. An outcome is the pair of both.
"""

from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from bayesrl.kernels.arrays import F1, I1, I3
from bayesrl.kernels.jit import njit
from bayesrl.kernels.simulators.simulator import begin, forget, implements, rollout_action, step
from bayesrl.kernels.simulators.sparse_urn import SparseUrn
from bayesrl.kernels.simulators.urn import Urn, draw, greedy_rollout, signed


class RewardUrn(NamedTuple):
    """Urns for transitions, and an urn for the reward of each cell."""

    moves: Urn | SparseUrn  # its rewards are not used
    rewards: Urn  # one group for each cell, one outcome for each value
    cell: I3  # (S, A, K) the cell of outcome k
    values: F1  # (V,) possible rewards


@implements(begin, RewardUrn)
@njit
def _begin(model: RewardUrn, rng: Generator) -> None:
    pass


@implements(step, RewardUrn)
@njit
def _step(model: RewardUrn, s: int, a: int, rng: Generator) -> tuple[int, int, float, bool, int]:
    g, i = model.moves.place[s, a, 0], model.moves.place[s, a, 1]
    k = draw(model.moves, g, rng)
    y = model.moves.succ[i, k]
    c = model.cell[s, a, k]
    j = draw(model.rewards, c, rng)
    mark = int(g) * len(model.rewards.rows) + c
    return int(k) * len(model.values) + int(j), signed(y), model.values[j], model.moves.terminal[y], mark


implements(rollout_action, RewardUrn)(greedy_rollout)


@implements(forget, RewardUrn)
@njit
def _forget(model: RewardUrn, marks: I1, n: int) -> None:
    C = len(model.rewards.rows)
    mark = np.empty(1, np.int64)
    for t in range(n):
        mark[0] = marks[t] // C
        forget(model.moves, mark, 1)
        mark[0] = marks[t] % C
        forget(model.rewards, mark, 1)
