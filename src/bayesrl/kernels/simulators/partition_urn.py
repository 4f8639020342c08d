"""Simulate a belief over clusterings: draw a clustering at the root, then draw from the urns of its clusters.

A simulation draws its clustering c at its first step and keeps it. Given c, the outcomes of a cluster and an action
follow a Polya urn (`kernels/simulators/urn.py`): outcome k has probability proportional to alpha_k plus the number of
times that k was seen, in the data and in this simulation, after the action in states of the cluster. So this is root
sampling.

A search that returns to a history replays its outcomes (`kernels/simulators/reversible_step.py`). A replayed outcome
multiplies the weight of each clustering by its predictive probability. The steps of a simulation are a list after the
replayed ones.
"""

from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from bayesrl.kernels.arrays import B1, F1, F2, F3, I1, I2, I3
from bayesrl.kernels.jit import njit
from bayesrl.kernels.random.stream import uniform
from bayesrl.kernels.simulators.reversible_step import likelihood, replay, undo
from bayesrl.kernels.simulators.simulator import begin, forget, implements, rollout_action, step
from bayesrl.kernels.simulators.urn import greedy_rollout

DRAWN, STEPS, REPLAYED = 0, 1, 2
"""Entries of `PartitionUrn.now`."""


class PartitionUrn(NamedTuple):
    """Weighted clusterings, counts of states, and the steps since the root."""

    succ: I3  # (S, A, K)
    reward: F3  # (S, A, K)
    terminal: B1  # (S,)
    labels: I2  # (N, S) label of each state in each clustering
    cdf: F1  # (N,) cumulative weights at the root
    weights: F2  # (D + 1, N) row n: weights after n replayed outcomes
    seen: F3  # (S, A, K) what the data showed
    alpha: F2  # (A, K) prior counts, zero on padding
    path: I2  # (D + 1, 3) state, action and outcome of each step since the root
    row: F1  # (K,) work space
    now: I1  # (3,) clustering of the running simulation (-1 if not drawn yet), steps since the root, replayed steps


@implements(begin, PartitionUrn)
@njit
def _begin(model: PartitionUrn, rng: Generator) -> None:
    model.now[DRAWN], model.now[STEPS] = -1, model.now[REPLAYED]


@implements(step, PartitionUrn)
@njit
def _step(model: PartitionUrn, s: int, a: int, rng: Generator) -> tuple[int, int, float, bool, int]:
    now, row = model.now, model.row
    if now[DRAWN] < 0:
        now[DRAWN] = _draw_partition(model, rng)
    u = uniform(rng) * _fill_row(model, now[DRAWN], s, a)
    k, n = 0, len(row)
    for i in range(n):
        if row[i] > 0.0:
            k, u = i, u - row[i]
            if u < 0.0:
                break
    t = now[STEPS]
    model.path[t, 0], model.path[t, 1], model.path[t, 2] = s, a, k
    now[STEPS] = t + 1
    y = model.succ[s, a, k]
    return k, y, model.reward[s, a, k], model.terminal[y], 0


@njit
def _draw_partition(model: PartitionUrn, rng: Generator) -> int:
    """Draw a clustering in proportion to its weight after what was replayed."""
    t = model.now[REPLAYED]
    if t == 0:
        u = uniform(rng) * model.cdf[-1]
        return min(int(np.searchsorted(model.cdf, u, side="right")), len(model.cdf) - 1)
    w = model.weights[t]
    u, last = uniform(rng) * w.sum(), 0
    for c in range(len(w)):
        if w[c] > 0.0:
            last, u = c, u - w[c]
            if u < 0.0:
                break
    return last


@njit
def _fill_row(model: PartitionUrn, c: int, s: int, a: int) -> float:
    """Write the urn of (s, a) under clustering c to `row`; returns its total."""
    z, row = model.labels[c], model.row
    row[:] = model.alpha[a]
    for t in range(len(z)):
        if z[t] == z[s]:
            row += model.seen[t, a]
    for i in range(model.now[STEPS]):
        if model.path[i, 1] == a and z[model.path[i, 0]] == z[s]:
            row[model.path[i, 2]] += 1.0
    return row.sum()


@implements(forget, PartitionUrn)
@njit
def _forget(model: PartitionUrn, marks: I1, n: int) -> None:
    model.now[DRAWN], model.now[STEPS] = -1, model.now[REPLAYED]


implements(rollout_action, PartitionUrn)(greedy_rollout)


# For searches that return to a history (`kernels/simulators/reversible_step.py`) --------------------------------------


@implements(replay, PartitionUrn)
@njit
def _replay(model: PartitionUrn, s: int, a: int, k: int) -> None:
    t, total = model.now[REPLAYED], 0.0
    for c in range(len(model.labels)):
        p = model.weights[t, c]
        if p > 0.0:
            p *= _chance(model, c, s, a, k)
        model.weights[t + 1, c] = p
        total += p
    for c in range(len(model.labels)):
        model.weights[t + 1, c] /= total
    model.path[t, 0], model.path[t, 1], model.path[t, 2] = s, a, k
    model.now[DRAWN], model.now[STEPS], model.now[REPLAYED] = -1, t + 1, t + 1


@njit
def _chance(model: PartitionUrn, c: int, s: int, a: int, k: int) -> float:
    """The probability of outcome k of (s, a) under clustering c."""
    total = _fill_row(model, c, s, a)
    return model.row[k] / total


@implements(undo, PartitionUrn)
@njit
def _undo(model: PartitionUrn, s: int, a: int, k: int) -> None:
    now = model.now
    now[STEPS] -= 1
    now[REPLAYED] = min(now[REPLAYED], now[STEPS])
    if now[STEPS] == now[REPLAYED]:
        now[DRAWN] = -1


@implements(likelihood, PartitionUrn)
@njit
def _likelihood(model: PartitionUrn, s: int, a: int, k: int) -> float:
    w, p = model.weights[model.now[REPLAYED]], 0.0
    for c in range(len(w)):
        if w[c] > 0.0:
            p += w[c] * _chance(model, c, s, a, k)
    return p / w.sum()
