"""Polya urns: simulate a Bayes-adaptive MDP at O(1) per step, whatever the number of states.

Root sampling draws a model from the posterior and follows it. It has the same law as drawing every outcome from the
posterior predictive and adding it to the counts of that simulation. By de Finetti's theorem, outcomes that are
independent given theta_g ~ Dirichlet(alpha_g) follow a Polya urn: it starts with alpha_g balls of the outcomes'
colours, and each draw adds a ball of its colour. The balls of the data are a list, so a draw from them is one index.
A simulation appends its balls to the list. To forget a simulation, the count is reset.

Speed: each read of a step depends on the read before, so all data of an urn are adjacent in memory (`Row`). The index
of an urn is computed, not read, if the model is flat. Pairs (s, a) with equal outcomes share one list of them
(`Outcomes.distinct_lists`). Indices are unsigned, since Numba checks signed ones for being negative.

Shapes: G groups, K outcomes, U different lists of outcomes, D steps of a simulation.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatch
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bayesrl.kernels.arrays import B1, F2, I1, I2, I3, Records
from bayesrl.kernels.jit import njit
from bayesrl.kernels.random.stream import uniform
from bayesrl.kernels.simulators.simulator import Simulator, begin, forget, implements, rollout_action, step

if TYPE_CHECKING:
    from bayesrl.kernels.simulators.sparse_urn import SparseUrn
    from bayesrl.models.mdp import TabularMDP

INDEX = np.uint32
index = cast(Callable[[float | np.integer[Any]], int], INDEX)
"""Convert a number to an index. For mypy an index is an int; compiled, it is an unsigned integer of 32 bits."""
ONE = index(1)
signed = cast(Callable[[int], int], np.int64)
"""Convert an index to a signed integer of 64 bits."""


def record(*fields: tuple[str, Any]) -> Any:
    """A structured dtype whose fields are read as attributes. Its size is 64 bytes, so that an offset is a shift."""
    packed: Any = np.dtype(list(fields), align=True)
    names, formats, offsets = zip(*[(name, *packed.fields[name]) for name in packed.names], strict=True)
    line: Any = {"names": names, "formats": formats, "offsets": offsets, "itemsize": 64, "aligned": True}
    return np.dtype((np.record, np.dtype(line)))


Row = record(
    ("mass", np.float64),  # sum of the prior counts
    ("total", np.float64),  # mass + count
    ("scale", np.float64),  # number of outcomes / mass if all prior counts are equal, otherwise 0
    ("prior", INDEX),  # row of `cdf` that holds the prior counts
    ("last", INDEX),  # the last outcome
    ("first", INDEX),  # index of its first ball in `balls`
    ("count", INDEX),  # number of balls, from the data and from the running simulation
    ("seen", INDEX),  # number of balls from the data
    ("limit", INDEX),  # largest number of balls; equal to `seen` in a known row, where draws add no balls
    ("room", INDEX),  # number of places from `first` on that are its own
)
"""An urn of a Dirichlet belief."""


class UrnRow(Protocol):
    """The fields of `Row`, for mypy."""

    mass: float
    total: float
    scale: float
    prior: int
    last: int
    first: int
    count: int
    seen: int
    limit: int
    room: int


Moves = tuple[I2, F2, I3, bool, B1]
"""The fields succ, reward, place, plain and terminal of an urn (`Outcomes.distinct_lists`)."""


class Urn(NamedTuple):
    """A Dirichlet belief as urns: prior counts, the outcomes of the data, and those of the running simulation."""

    succ: I2  # (U, K) next state of outcome k
    reward: F2  # (U, K) its reward
    place: I3  # (S, A, 2) index of the urn of (s, a), and index of its list of outcomes
    plain: bool  # whether the model is flat: (s, a) has urn s A + a, and outcome k leads to state k
    terminal: B1  # (S,)
    rows: Records[UrnRow]  # (G,) of Row
    balls: I1  # outcomes of all urns, one urn after the other, with room for D more in each
    cdf: F2  # (U, K) cumulative prior counts, without repeated rows


def urns(moves: Moves, rows: NDArray[Any], cdf: F2, entries: I1, depth: int) -> Urn:
    """Fill empty urns (see `empty_urns`) with the outcomes of the data.

    `entries` are those of a ledger, g * K + k.
    """
    rows = rows.astype(Row)  # a copy, of records also where several arrays were joined
    return Urn(*moves, rows, _fill(rows, entries, cdf.shape[1], depth), cdf)


@njit
def _fill(rows: Records[UrnRow], entries: I1, K: int, depth: int) -> I1:
    """Sort the entries by urn (a counting sort), with room for `depth` more balls in each urn that learns."""
    for e in entries:
        rows[e // K].seen += ONE
    n = 0
    for g in range(len(rows)):
        row = rows[g]
        room = depth if row.limit > 0 else 0
        row.first, row.limit = n, row.seen + room
        row.total, row.room = row.mass + row.seen, row.limit
        n += row.limit
    balls = np.empty(n, INDEX)
    for e in entries:
        row = rows[e // K]
        balls[row.first + row.count] = e % K
        row.count += ONE
    return balls


def more_urns(urn: Urn, rows: NDArray[Any], end: I1, entries: I1, depth: int) -> Urn:
    """Add entries to filled rows and to the balls of urns, which are used up to `end`, (1,)."""
    balls = add_entries(rows, urn.balls, end, entries, urn.cdf.shape[1], depth)
    return urn if balls is urn.balls else urn._replace(balls=balls)


@njit
def add_entries(rows: Records[UrnRow], balls: I1, end: I1, entries: I1, K: int, depth: int) -> I1:
    """Add entries to rows and balls. Returns the balls, which are a longer array if that was too short.

    An urn without room moves to the end, where it gets room for as many balls again: O(1) for each entry on average.
    """
    for e in entries:
        row = rows[e // K]
        if row.seen + depth >= row.room:
            room = depth + 2 * (row.seen + 1)
            balls = moved(balls, row.first, row.seen, end[0], room)
            row.first, row.room = end[0], room
            end[0] += room
        balls[row.first + row.seen] = e % K
        row.seen += ONE
        row.count, row.limit, row.total = row.seen, row.seen + depth, row.mass + row.seen
    return balls


@njit
def moved(balls: I1, first: int, n: int, end: int, room: int) -> I1:
    """Copy n balls to the end, which gets `room` places; a longer array if there are not as many."""
    if end + room > len(balls):
        longer = np.empty(2 * (end + room), INDEX)
        longer[:end] = balls[:end]
        balls = longer
    balls[end : end + n] = balls[first : first + n]
    return balls


def empty_urns(prior: F2, size: I1, learns: B1 | bool) -> tuple[NDArray[Any], F2]:
    """Make empty urns with prior counts (G, K), of which the first `size` are outcomes; returns (rows, cdf).

    Until `urns` fills them, `limit` says whether draws add balls. If all groups share one row of prior counts (a
    broadcast array), that row is summed once.
    """
    rows, shared = np.zeros(len(prior), Row), prior.strides[0] == 0
    different = prior[:1] if shared else prior
    valid = np.arange(prior.shape[1]) < (size[:1] if shared else size)[:, None]
    equal = (~valid | (different == different[:, :1])).all(axis=1)
    cdf = np.cumsum(different, axis=1)
    rows["mass"] = cdf[:, -1]
    rows["scale"] = np.where(equal, size / rows["mass"], 0.0)
    rows["prior"] = 0 if shared else np.arange(len(prior))
    rows["last"], rows["limit"] = size - 1, learns
    return rows, cdf


def model_urn(mdp: TabularMDP) -> Urn:
    """A known model as urns to which draws add no balls. A simulated step costs O(log K)."""
    o = mdp.outcomes
    return urns(o.distinct_lists, *empty_urns(mdp.prob, o.size, False), np.zeros(0, np.int64), 0)


@singledispatch
def draw(urn: object, g: int, rng: Generator) -> int:
    """Draw an outcome of group g from the posterior predictive, and add a ball of its colour."""
    raise NotImplementedError


@implements(draw, Urn)
@njit
def draw_dirichlet(urn: Urn, g: int, rng: Generator) -> int:
    """Draw an outcome of group g with one random number, and add a ball of its colour."""
    row = urn.rows[g]
    n, u = row.count, uniform(rng) * row.total
    if u >= row.mass:  # u may be rounded up to the mass of an urn without balls
        k = urn.balls[row.first + min(index(u - row.mass), n - ONE)] if n > 0 else row.last
    elif row.scale > 0.0:
        k = min(index(u * row.scale), row.last)
    else:
        k = min(index(np.searchsorted(urn.cdf[row.prior], u, side="right")), row.last)
    if n < row.limit:
        urn.balls[row.first + n] = k
        row.count = n + ONE
        row.total += 1.0
    return k


REDRAW = np.uint16(0xFFFF)
"""An entry of `P` that is not an action: draw again."""


@njit
def greedy_rollout(model: Simulator, P: I2, s: int, a: int, epsilon: float, rng: Generator) -> int:
    """Choose epsilon-greedily among the best actions P of each state; its last row holds all actions.

    This usually takes one random number. No branch depends on it.
    """
    S, M = index(len(P) - 1), P.shape[1]
    while True:
        u = uniform(rng)
        free = u < epsilon
        u = u * (M / epsilon) if free else (u - epsilon) * (M / (1.0 - epsilon))
        a = P[S if free else index(s), min(index(u), index(M - 1))]
        if a != REDRAW:
            return a


implements(rollout_action, Urn)(greedy_rollout)


# For searches (`simulator.py`): nothing is drawn at the root ---------------------------------------------------------


@implements(begin, Urn)
@njit
def begin_urn(model: Simulator, rng: Generator) -> None:
    """Do nothing: urns draw nothing at the root."""


@implements(step, Urn)
@njit
def step_urn(model: Urn | SparseUrn, s: int, a: int, rng: Generator) -> tuple[int, int, float, bool, int]:
    """Draw the outcome of (s, a); the mark of a step is its urn."""
    s, a = index(s), index(a)
    g = s * index(model.place.shape[1]) + a if model.plain else model.place[s, a, 0]
    i, k = model.place[s, a, 1], draw(model, g, rng)
    y = k if model.plain else model.succ[i, k]
    return k, signed(y), model.reward[i, k], model.terminal[y], g


@implements(forget, Urn)
@njit
def _forget(model: Urn, marks: I1, n: int) -> None:
    for t in range(n):
        row = model.rows[marks[t]]
        row.count, row.total = row.seen, row.mass + row.seen
