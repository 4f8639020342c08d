"""Urns of a sparse Dirichlet belief (Friedman, Singer 1999), as in `urn.py`: O(1) per step.

The support of a row is an unknown subset of L outcomes. After N draws with k0 distinct outcomes, an outcome that was
seen n times has predictive probability (alpha + n) / T(k0, N), where T(k0, N) = 1 / E[1 / (k alpha + N)] over the
posterior of the size k of the support. The rest is shared equally by the L - k0 unseen outcomes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bayesrl.kernels.arrays import B1, F1, F2, I1, I2, I3, Records
from bayesrl.kernels.jit import inlined, njit
from bayesrl.kernels.random.stream import uniform
from bayesrl.kernels.simulators.simulator import begin, forget, implements, rollout_action, step
from bayesrl.kernels.simulators.urn import (
    INDEX,
    ONE,
    Moves,
    begin_urn,
    draw,
    greedy_rollout,
    index,
    moved,
    record,
    step_urn,
)

SparseRow = record(
    ("among", np.float64),  # number of outcomes, L; `size` would be that of the record without compilation
    ("total", np.float64),  # T(k0, N)
    ("total_seen", np.float64),  # T(k0, N) of the data alone
    ("first", INDEX),  # index of its first ball in `balls`, and of its first distinct outcome in `kinds`
    ("count", INDEX),  # number of balls N, from the data and from the running simulation
    ("seen", INDEX),  # number of balls from the data
    ("limit", INDEX),  # largest number of balls
    ("room", INDEX),  # number of places from `first` on that are its own
    ("kinds", INDEX),  # number of distinct outcomes, k0
    ("kinds_seen", INDEX),  # number of distinct outcomes in the data
)
"""An urn of a sparse Dirichlet belief."""


class SparseUrnRow(Protocol):
    """The fields of `SparseRow`, for mypy."""

    among: float
    total: float
    total_seen: float
    first: int
    count: int
    seen: int
    limit: int
    room: int
    kinds: int
    kinds_seen: int


class SparseUrn(NamedTuple):
    """A sparse Dirichlet belief as urns. The first five fields are those of `Urn`."""

    succ: I2
    reward: F2
    place: I3
    plain: bool
    terminal: B1
    rows: Records[SparseUrnRow]  # (G,) of SparseRow
    balls: I1  # outcomes of all urns, one urn after the other, with room for D more in each
    kinds: I1  # distinct outcomes of all urns, in the same places
    prior: F1  # (4,) alpha, exponent, the size L to which the table of weights belongs, 1 / alpha
    weights: F2  # table of T(k0, N), nan where it is not computed yet


def sparse_urns(
    moves: Moves, size: I1, entries: I1, depth: int, prior: F1, table: Callable[[int, int], F2]
) -> SparseUrn:
    """Make sparse urns with `size` outcomes each, filled with the data (see `urns`).

    table(k0, N) returns the table of weights up to k0 and N.
    """
    rows = np.zeros(len(size), SparseRow)
    rows["among"] = size
    balls, kinds = _fill_sparse(rows, entries, int(prior[2]), depth)
    weights = table(int(rows["kinds"].max()) + depth, int(rows["seen"].max()) + depth)
    urn = SparseUrn(*moves, rows, balls, kinds, prior, weights)
    _weigh_all(urn)
    return urn


@njit
def _fill_sparse(rows: Records[SparseUrnRow], entries: I1, K: int, depth: int) -> tuple[I1, I1]:
    """Sort the entries by urn, and list the distinct outcomes of each urn in the order in which they were seen."""
    for e in entries:
        rows[e // K].seen += ONE
    n = 0
    for g in range(len(rows)):
        row = rows[g]
        row.first, row.limit, row.room = n, row.seen + depth, row.seen + depth
        n += row.limit
    balls, kinds = np.empty(n, INDEX), np.empty(n, INDEX)
    for e in entries:
        _add_ball(rows[e // K], balls, kinds, index(e % K))
    return balls, kinds


@inlined
def _add_ball(row: SparseUrnRow, balls: I1, kinds: I1, k: int) -> None:
    """Add a ball of the data."""
    balls[row.first + row.count] = k
    row.count += ONE
    j = 0
    while j < row.kinds and kinds[row.first + j] != k:
        j += 1
    if j == row.kinds:
        kinds[row.first + j] = k
        row.kinds += ONE
        row.kinds_seen = row.kinds


def more_sparse_urns(
    urn: SparseUrn, rows: NDArray[Any], end: I1, entries: I1, depth: int, table: Callable[[int, int], F2]
) -> SparseUrn:
    """Add entries to filled rows and urns, as `more_urns` does."""
    balls, kinds, k0, N = add_sparse_entries(rows, urn, end, entries, int(urn.prior[2]), depth)
    weights = table(k0 + depth, N + depth)
    if balls is not urn.balls or weights is not urn.weights:
        urn = urn._replace(balls=balls, kinds=kinds, weights=weights)
    weigh_rows(urn, rows, entries, int(urn.prior[2]))
    return urn


@njit
def add_sparse_entries(
    rows: Records[SparseUrnRow], urn: SparseUrn, end: I1, entries: I1, K: int, depth: int
) -> tuple[I1, I1, int, int]:
    """Add entries, as `add_entries` does.

    Returns the balls, the distinct outcomes, and the largest k0 and N of the urns that got entries.
    """
    balls, kinds, most_kinds, most = urn.balls, urn.kinds, 0, 0
    for e in entries:
        row = rows[e // K]
        if row.seen + depth >= row.room:
            room = depth + 2 * (row.seen + 1)
            balls = moved(balls, row.first, row.seen, end[0], room)
            kinds = moved(kinds, row.first, row.kinds, end[0], room)
            row.first, row.room = end[0], room
            end[0] += room
        _add_ball(row, balls, kinds, index(e % K))
        row.seen, row.limit = row.count, row.count + depth
        most_kinds, most = max(most_kinds, int(row.kinds)), max(most, int(row.seen))
    return balls, kinds, most_kinds, most


@njit
def weigh_rows(urn: SparseUrn, rows: Records[SparseUrnRow], entries: I1, K: int) -> None:
    """Set the totals of the rows that got entries."""
    for e in entries:
        row = rows[e // K]
        weigh(urn, row)
        row.total_seen = row.total


@inlined
def weigh(urn: SparseUrn, row: SparseUrnRow) -> None:
    """Set the total T(k0, N) of an urn.

    The probability that the next outcome was seen before is C(k0, N) = sum_k P(size k | data) (k0 alpha + N) /
    (k alpha + N) = (k0 alpha + N) / T.
    """
    kept = row.among == urn.prior[2]
    row.total = tabled_weight(urn.weights, kept, row.kinds, row.count, row.among, urn.prior[0], urn.prior[1])


@njit
def _weigh_all(urn: SparseUrn) -> None:
    for g in range(len(urn.rows)):
        weigh(urn, urn.rows[g])
        urn.rows[g].total_seen = urn.rows[g].total


@inlined
def tabled_weight(weights: F2, kept: bool, k0: int, N: int, L: float, alpha: float, exponent: float) -> float:
    """T(k0, N) of a group of L outcomes, read from and written to the table of weights if `kept`."""
    if not kept:
        return weight_of_all(k0, N, L, alpha, exponent)
    if np.isnan(weights[k0, N]):
        weights[k0, N] = weight_of_all(k0, N, L, alpha, exponent)
    return weights[k0, N]


@njit
def unseen_probability(k0: float, N: float, L: float, alpha: float, T: float) -> float:
    """The probability of each of the L - k0 unseen outcomes, given T = T(k0, N)."""
    return max(0.0, 1.0 - (k0 * alpha + N) / T) / max(L - k0, 1.0)


@njit
def weight_of_all(k0: float, N: float, L: float, alpha: float, exponent: float) -> float:
    """T(k0, N) = 1 / E[1 / (k alpha + N)] over the size k of the support."""
    top, low, high = -np.inf, max(int(k0), 1), int(L) + 1
    for k in range(low, high):
        top = max(top, log_weight(k, k0, N, alpha, exponent))
    total = inverse = 0.0
    for k in range(low, high):
        m = np.exp(log_weight(k, k0, N, alpha, exponent) - top)
        total += m
        inverse += m / (k * alpha + N)
    return total / inverse


@njit
def log_weight(k: int, k0: float, N: float, alpha: float, exponent: float) -> float:
    """log P(size k | k0 distinct outcomes in N draws), up to a constant."""
    return (
        -exponent * math.log(k)
        + math.lgamma(k + 1.0)
        - math.lgamma(k - k0 + 1.0)
        + math.lgamma(k * alpha)
        - math.lgamma(k * alpha + N)
    )


@njit
def log_weights(kinds: F2, K: int, alpha: float, exponent: float) -> F2:
    """`log_weight` for k = 1..K (columns) of each row (k0, N, L) of `kinds`; minus infinity for an impossible size."""
    table = np.full((len(kinds), K), -np.inf)
    for i in range(len(kinds)):
        k0, N, L = kinds[i]
        for k in range(max(int(k0), 1), int(L) + 1):
            table[i, k - 1] = log_weight(k, k0, N, alpha, exponent)
    return table


@implements(draw, SparseUrn)
@njit
def draw_sparse(urn: SparseUrn, g: int, rng: Generator) -> int:
    """Draw an outcome of group g, and add a ball of its colour. This usually takes one random number."""
    row, alpha = urn.rows[g], urn.prior[0]
    n, k0 = row.count, row.kinds
    u = uniform(rng) * row.total - k0 * alpha
    if u < 0.0:  # each distinct outcome has weight alpha
        k = urn.kinds[row.first + min(index(-u * urn.prior[3]), k0 - ONE)]
    elif u < n or k0 == row.among:  # each ball has weight 1
        k = urn.balls[row.first + min(index(u), n - ONE)]
    else:
        k = _draw_unseen(urn, row, rng)
        if n < row.limit:
            urn.kinds[row.first + k0] = k
            row.kinds = k0 + ONE
    if n < row.limit:
        urn.balls[row.first + n] = k
        row.count = n + ONE
        weigh(urn, row)
    return k


@inlined
def _draw_unseen(urn: SparseUrn, row: SparseUrnRow, rng: Generator) -> int:
    """Draw uniformly among the L - k0 unseen outcomes, by rejection."""
    while True:
        k = index(uniform(rng) * row.among)
        j = 0
        while j < row.kinds and urn.kinds[row.first + j] != k:
            j += 1
        if j == row.kinds:
            return k


# For searches (`simulator.py`) ---------------------------------------------------------------------------------------

implements(begin, SparseUrn)(begin_urn)
implements(step, SparseUrn)(step_urn)
implements(rollout_action, SparseUrn)(greedy_rollout)


@implements(forget, SparseUrn)
@njit
def _forget_sparse(model: SparseUrn, marks: I1, n: int) -> None:
    for t in range(n):
        row = model.rows[marks[t]]
        row.count, row.kinds, row.total = row.seen, row.kinds_seen, row.total_seen
