"""Hyper-states for searches: one is drawn at the root, then outcomes and observations come from Polya urns.

A hyper-state is a hidden state and counts. Its counts are the prior's, which all share, and a short list of cells that
were counted up. Given a hyper-state, the rows of the model are independent Dirichlet distributions. So drawing each
outcome from the predictive of the counts and adding it to the counts of this simulation has the same law as drawing a
model at the root and following it (`kernels/simulators/urn.py`), and as copying the counts.

A simulated draw from row r is a ball of one of three kinds: of the prior, of the hyper-state's list, or of this
simulation. The list is looked up when a simulation first touches a row. A row whose `stamp` is not that of the running
simulation has no balls of it, so a simulation is forgotten without undoing anything, whatever its length.

Shapes: N hyper-states with M cells in all, R rows of at most W entries; S, A, K, L and Z as in `hidden_model.py`.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from numpy.random import Generator

from bayesrl.kernels.arrays import B1, B2, F1, F2, F4, I1, I2, I3, Records
from bayesrl.kernels.jit import inlined, njit
from bayesrl.kernels.random.stream import uniform
from bayesrl.kernels.simulators.hidden_model import cumulative, draw_by, reward_of
from bayesrl.kernels.simulators.simulator import begin, forget, implements, rollout_action, root, step
from bayesrl.kernels.simulators.urn import INDEX, ONE, greedy_rollout, index, record

Row = record(
    ("mass", np.float64),  # sum of the prior counts
    ("total", np.float64),  # mass + seen + count
    ("last", INDEX),  # the last entry
    ("learnt", INDEX),  # whether draws add balls
    ("first", INDEX),  # index of its first ball in `balls`
    ("count", INDEX),  # balls of the simulation `stamp`
    ("stamp", INDEX),  # the last simulation that touched the row
    ("low", INDEX),  # the part of the list of cells that belongs to this row,
    ("high", INDEX),  # from `low` to before `high`
    ("seen", INDEX),  # and the sum of its counts
)
"""An urn."""


class HyperRow(Protocol):
    """The fields of `Row`, for mypy."""

    mass: float
    total: float
    last: int
    learnt: int
    first: int
    count: int
    stamp: int
    low: int
    high: int
    seen: int


class HyperUrn(NamedTuple):
    """A mixture of hyper-states, and the urns of the running simulation."""

    below: F2  # (1, N) cumulative weights of the hyper-states
    state: I1  # (N,) their states; -1 if it is distributed as the start
    first: I1  # (N + 1,) where the list of each begins
    cell: I1  # (M,) r W + k, ascending within each
    times: I1  # (M,) how often it was counted
    starts: I1  # (n,) the states that an episode may start in
    start: F2  # (1, n) their cumulative probabilities
    succ: I3  # (S, A, K) next state of outcome k
    move: I2  # (S, A) its row
    observation: I3  # (S, A, L) observation of outcome j after reaching s by a
    show: I2  # (S, A) its row
    cdf: F2  # (R, W) cumulative prior counts
    rows: Records[HyperRow]  # (R,) of Row
    balls: I1  # entries drawn by the running simulation, with room for D in each row that learns
    bound: float  # a row gets balls while its total is below this
    reward: F4  # (S, A, 1 or S, 1 or Z)
    terminal: B1  # (S,)
    now: I1  # (2,) the hyper-state of the running simulation, and its stamp


class Priors(NamedTuple):
    """The arrays that the urns of all beliefs of one prior share: fields of `HyperUrn` of these names, empty rows."""

    starts: I1
    start: F2
    succ: I3
    move: I2
    observation: I3
    show: I2
    cdf: F2
    rows: Records[HyperRow]
    reward: F4
    terminal: B1


def priors(
    start: F1, succ: I3, move: I2, observation: I3, show: I2, alpha: F2, size: I1, learnt: B1, reward: F4, terminal: B1
) -> Priors:
    """The urns of prior counts alpha (R, W), of which the first `size` (R,) are entries."""
    rows = np.zeros(len(alpha), Row)
    rows["mass"], rows["last"], rows["learnt"] = alpha.sum(axis=1), size - 1, learnt
    valid: B2 = np.arange(alpha.shape[1]) < size[:, None]
    starts = np.flatnonzero(start)
    cdf = cumulative(np.where(valid, alpha, 0.0))
    return Priors(
        starts, cumulative(start[None, starts]), succ.astype(INDEX), move.astype(INDEX), observation.astype(INDEX),
        show.astype(INDEX), cdf, rows, reward, terminal,
    )  # fmt: skip


def hyper_urn(p: Priors, weight: F1, state: I1, first: I1, cell: I1, times: I1, bound: float, depth: int) -> HyperUrn:
    """The urns of weighted hyper-states for simulations of at most `depth` steps."""
    rows = p.rows.copy()  # type: ignore[attr-defined]  # searches change them
    learnt = np.flatnonzero(rows["learnt"])
    rows["first"][learnt] = np.arange(len(learnt)) * depth
    balls = np.empty(len(learnt) * depth, INDEX)
    return HyperUrn(
        cumulative(weight[None]), state, first, cell, times, p.starts, p.start, p.succ, p.move, p.observation, p.show,
        p.cdf, rows, balls, bound, p.reward, p.terminal, np.zeros(2, np.int64),
    )  # fmt: skip


@inlined
def touch(model: HyperUrn, r: int, row: HyperRow) -> None:
    """Look up the list of the running simulation's hyper-state for row r, which has no balls yet."""
    i, W = model.now[0], model.cdf.shape[1]
    low, high, end = model.first[i], model.first[i + 1], model.first[i + 1]
    while low < high:  # the first cell that is not below the row
        middle = (low + high) // 2
        if model.cell[middle] < r * W:
            low = middle + 1
        else:
            high = middle
    seen = 0
    while high < end and model.cell[high] < (r + 1) * W:
        seen += model.times[high]
        high += 1
    row.stamp, row.count = index(model.now[1]), index(0)
    row.low, row.high, row.seen, row.total = index(low), index(high), index(seen), row.mass + seen


@inlined
def draw_from(model: HyperUrn, r: int, rng: Generator) -> int:
    """Draw an entry of row r from the predictive of its counts, and add a ball."""
    row = model.rows[r]
    if not row.learnt:
        return draw_by(model.cdf, r, int(row.last) + 1, rng)
    if row.stamp != model.now[1]:
        touch(model, r, row)
    u, n = uniform(rng) * row.total, row.count
    if u < row.mass or row.total == row.mass:
        k, high = 0, int(row.last)
        while k < high:
            middle = (k + high) // 2
            if u < model.cdf[r, middle]:
                high = middle
            else:
                k = middle + 1
    elif u < row.mass + row.seen or n == 0:
        u -= row.mass
        t = int(row.low)
        while t < int(row.high) - 1 and u >= model.times[t]:
            u -= model.times[t]
            t += 1
        k = model.cell[t] - r * model.cdf.shape[1]
    else:
        k = int(model.balls[row.first + min(index(u - row.mass - row.seen), n - ONE)])
    if row.total < model.bound:
        model.balls[row.first + n] = index(k)
        row.count = n + ONE
        row.total += 1.0
    return k


@implements(begin, HyperUrn)
@njit
def _begin(model: HyperUrn, rng: Generator) -> None:
    model.now[0] = draw_by(model.below, 0, model.below.shape[1], rng)
    model.now[1] += 1


@implements(root, HyperUrn)
@njit
def _root(model: HyperUrn, s: int, rng: Generator) -> int:
    drawn = model.state[model.now[0]]
    return drawn if drawn >= 0 else model.starts[draw_by(model.start, 0, len(model.starts), rng)]


@implements(step, HyperUrn)
@njit
def _step(model: HyperUrn, s: int, a: int, rng: Generator) -> tuple[int, int, float, bool, int]:
    y = int(model.succ[s, a, draw_from(model, int(model.move[s, a]), rng)])
    o = int(model.observation[y, a, draw_from(model, int(model.show[y, a]), rng)])
    return o, y, reward_of(model.reward, s, a, y, o), model.terminal[y], 0


@implements(forget, HyperUrn)
@njit
def _forget(model: HyperUrn, marks: I1, n: int) -> None:
    pass


implements(rollout_action, HyperUrn)(greedy_rollout)
