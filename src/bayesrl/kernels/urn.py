"""Simulating a Bayes-adaptive MDP by urns: O(1) a step, whatever the number of states.

Drawing a model from the posterior once and following it (root sampling) has the same law as drawing every outcome from
the posterior predictive and adding it to the counts of that simulation: by de Finetti, outcomes that are independent
given theta_g ~ Dirichlet(alpha_g) are exactly a Polya urn with alpha_g balls of the prior's colours, to which each draw
adds a ball of its own colour. The balls of the data are a list, so a draw from them is one index; what a simulation
adds goes to the end of the list, and forgetting it is setting a count back.

Made for the processor: a step is a chain of reads, each waiting for the one before, so all that is to be known of an
urn lies in one place (`Row`), which is computed and not looked up where the model is flat; (s, a) whose outcomes are
alike share one list of them (`Outcomes.alike`), and indices have no sign (Numba would look for negative ones). Measured
in benchmarks/bamcp.py.

Shapes: G groups, K outcomes, U different lists of outcomes, D steps of a simulation.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

import numpy as np
from numba import types
from numpy.random import Generator
from numpy.typing import NDArray

from bayesrl.kernels.arrays import B1, F1, F2, I1, I2, I3, Records
from bayesrl.kernels.jit import inlined, njit, overloads, plain
from bayesrl.kernels.simulator import begin, forget, implements, rollout_action, step
from bayesrl.kernels.stream import uniform

if TYPE_CHECKING:
    from bayesrl.models.mdp import TabularMDP

INDEX = np.uint32
index = cast(Callable[[float | np.integer[Any]], int], INDEX)
"""A number as an index. To mypy an index is an int; compiled, it has 32 bits and no sign."""
ONE = index(1)
signed = cast(Callable[[int], int], np.int64)
"""An index as a number of 64 bits with a sign."""


def record(*fields: tuple[str, Any]) -> Any:
    """What lies together in memory, 64 bytes so that finding one is a shift, its parts read as attributes."""
    packed: Any = np.dtype(list(fields), align=True)
    names, formats, offsets = zip(*[(name, *packed.fields[name]) for name in packed.names], strict=True)
    line: Any = {"names": names, "formats": formats, "offsets": offsets, "itemsize": 64, "aligned": True}
    return np.dtype((np.record, np.dtype(line)))


Row = record(
    ("mass", np.float64),  # prior count of the urn in all
    ("total", np.float64),  # mass + count
    ("scale", np.float64),  # outcomes for each unit of mass, where all prior counts are equal, else 0
    ("prior", INDEX),  # which row of `cdf` holds its prior counts
    ("last", INDEX),  # the last outcome
    ("first", INDEX),  # where its balls begin in `balls`
    ("count", INDEX),  # how many balls there are: seen, and of the running simulation
    ("seen", INDEX),  # of these, seen
    ("limit", INDEX),  # how many there can be: no more than seen where a draw adds none (a known row)
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


Moves = tuple[I2, F2, I3, bool, B1]
"""succ, reward, place, plain and terminal of an urn (`Outcomes.alike`)."""


class Urn(NamedTuple):
    """A Dirichlet belief as balls: the prior's mass, the outcomes seen, and those of the running simulation."""

    succ: I2  # (U, K) next state of outcome k
    reward: F2  # (U, K) its reward
    place: I3  # (S, A, 2) of (s, a): which urn draws the outcome, and which list it is in
    plain: bool  # whether the model is flat: urn s A + a for each (s, a), and outcome k leads to state k
    terminal: B1  # (S,)
    rows: Records[UrnRow]  # (G,) of Row
    balls: I1  # outcomes, urn after urn, with room for D more in each
    cdf: F2  # (U, K) cumulative prior counts, each different row once


def urns(moves: Moves, rows: NDArray[Any], cdf: F2, entries: I1, depth: int) -> Urn:
    """Urns with these rows (mass, scale, last, and in `limit` whether draws add balls), and the outcomes seen in them.

    `moves` are succ, reward, place, plain and terminal; entries are those of a ledger, g * K + k.
    """
    rows = rows.copy()
    return Urn(*moves, rows, _fill(rows, entries, cdf.shape[1], depth), cdf)


@njit
def _fill(rows: Records[UrnRow], entries: I1, K: int, depth: int) -> I1:
    """Count the entries, find a place for each urn's balls, put them there: a counting sort that leaves room."""
    for e in entries:
        rows[e // K].seen += ONE
    n = 0
    for g in range(len(rows)):
        row = rows[g]
        room = depth if row.limit > 0 else 0
        row.first, row.limit = n, row.seen + room
        row.total = row.mass + row.seen
        n += row.limit
    balls = np.empty(n, INDEX)
    for e in entries:
        row = rows[e // K]
        balls[row.first + row.count] = e % K
        row.count += ONE
    return balls


def empty_urns(prior: F2, size: I1, learns: B1 | bool) -> tuple[NDArray[Any], F2]:
    """Empty urns with prior counts (G, K), of which the first `size` are outcomes: their rows, and `cdf`.

    If all groups share one row of prior counts (a broadcast array), that row is summed once.
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
    """A known model as urns that no draw changes. A simulated step costs O(log K)."""
    o = mdp.outcomes
    return urns(o.alike, *empty_urns(mdp.prob, o.size, False), np.zeros(0, np.int64), 0)


def draw(urn: Urn | SparseUrn, g: int, rng: Generator) -> int:
    """An outcome of group g from the predictive of whatever urn this is, and one more ball of its colour."""
    return draw_sparse(urn, g, rng) if isinstance(urn, SparseUrn) else draw_dirichlet(urn, g, rng)


@njit
def draw_dirichlet(urn: Urn, g: int, rng: Generator) -> int:
    """An outcome of group g of a Dirichlet urn, and one more ball of its colour. One random number."""
    row = urn.rows[g]
    n, u = row.count, uniform(rng) * row.total
    if u >= row.mass:  # rounding may lift u to the mass of an urn without balls
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


SparseRow = record(
    ("size", np.float64),  # conceivable outcomes L
    ("total", np.float64),  # what it weighs in all, T(k0, N)
    ("total_seen", np.float64),  # what it weighed with what was seen
    ("first", INDEX),  # where its balls begin in `balls`
    ("count", INDEX),  # how many balls there are, N
    ("seen", INDEX),  # of these, seen
    ("limit", INDEX),  # how many there can be
    ("kinds_first", INDEX),  # where its different outcomes begin in `kinds`
    ("kinds", INDEX),  # how many there are, k0
    ("kinds_seen", INDEX),  # of these, seen
)
"""An urn of a sparse Dirichlet belief."""


class SparseUrnRow(Protocol):
    """The fields of `SparseRow`, for mypy."""

    size: float
    total: float
    total_seen: float
    first: int
    count: int
    seen: int
    limit: int
    kinds_first: int
    kinds: int
    kinds_seen: int


class SparseUrn(NamedTuple):
    """A sparse Dirichlet belief as balls (Friedman, Singer 1999): what was seen, how often, and the chance of news."""

    succ: I2  # (U, K) next state of outcome k
    reward: F2  # (U, K) its reward
    place: I3  # (S, A, 2) of (s, a): which urn draws the outcome, and which list it is in
    plain: bool  # whether the model is flat: urn s A + a for each (s, a), and outcome k leads to state k
    terminal: B1  # (S,)
    rows: Records[SparseUrnRow]  # (G,) of SparseRow
    balls: I1  # outcomes, urn after urn, with room for D more in each
    kinds: I1  # different outcomes, urn after urn, with room for D more in each
    prior: F1  # (alpha, exponent, the size L for which weights are kept, 1 / alpha)
    weights: F2  # T(k0, N), nan where it is not known yet


def sparse_urns(
    moves: Moves, size: I1, entries: I1, depth: int, prior: F1, table: Callable[[int, int], F2]
) -> SparseUrn:
    """Sparse urns with `size` conceivable outcomes each, and the outcomes seen in them (see `urns`).

    table(k0, N) gives T up to there.
    """
    rows = np.zeros(len(size), SparseRow)
    rows["size"] = size
    balls, kinds = _fill_sparse(rows, entries, int(prior[2]), depth)
    weights = table(int(rows["kinds"].max()) + depth, int(rows["seen"].max()) + depth)
    urn = SparseUrn(*moves, rows, balls, kinds, prior, weights)
    _weigh_all(urn)
    return urn


@njit
def _fill_sparse(rows: Records[SparseUrnRow], entries: I1, K: int, depth: int) -> tuple[I1, I1]:
    """As `_fill`, and the different outcomes of each urn once, in the order in which they were seen."""
    for e in entries:
        rows[e // K].seen += ONE
    n = m = 0
    for g in range(len(rows)):
        row = rows[g]
        row.first, row.limit, row.kinds_first = n, row.seen + depth, m
        n += row.limit
        m += min(row.seen + depth, int(row.size))
    balls, kinds = np.empty(n, INDEX), np.empty(m, INDEX)
    for e in entries:
        row, k = rows[e // K], index(e % K)
        balls[row.first + row.count] = k
        row.count += ONE
        j = 0
        while j < row.kinds and kinds[row.kinds_first + j] != k:
            j += 1
        if j == row.kinds:
            kinds[row.kinds_first + j] = k
            row.kinds += ONE
    for g in range(len(rows)):
        rows[g].kinds_seen = rows[g].kinds
    return balls, kinds


@inlined
def weigh(urn: SparseUrn, row: SparseUrnRow) -> None:
    """Set what an urn weighs in all, where what was seen weighs k0 alpha + N: from the table, or into it.

    The chance of nothing new is C(k0, N) = sum_k P(size k | data) (k0 alpha + N) / (k alpha + N) = (k0 alpha + N) / T.
    """
    kept = row.size == urn.prior[2]
    row.total = tabled_weight(urn.weights, kept, row.kinds, row.count, row.size, urn.prior[0], urn.prior[1])


@njit
def _weigh_all(urn: SparseUrn) -> None:
    for g in range(len(urn.rows)):
        weigh(urn, urn.rows[g])
        urn.rows[g].total_seen = urn.rows[g].total


@inlined
def tabled_weight(weights: F2, kept: bool, k0: int, N: int, L: float, alpha: float, exponent: float) -> float:
    """T(k0, N) of a group of L outcomes, which has a place in the table of weights if it is `kept` there."""
    if not kept:
        return weight_of_all(k0, N, L, alpha, exponent)
    if np.isnan(weights[k0, N]):
        weights[k0, N] = weight_of_all(k0, N, L, alpha, exponent)
    return weights[k0, N]


@njit
def new_chance(k0: float, N: float, L: float, alpha: float, T: float) -> float:
    """The probability of each of the L - k0 outcomes not seen: T = T(k0, N), of which those seen have k0 alpha + N."""
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
    """log P(size k | k0 outcomes in N draws), but for a constant."""
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


@njit
def draw_sparse(urn: SparseUrn, g: int, rng: Generator) -> int:
    """An outcome of group g from the sparse predictive, and one more ball of its colour. One random number, mostly."""
    row, alpha = urn.rows[g], urn.prior[0]
    n, k0 = row.count, row.kinds
    u = uniform(rng) * row.total - k0 * alpha
    if u < 0.0:  # one of the different outcomes seen, all alike
        k = urn.kinds[row.kinds_first + min(index(-u * urn.prior[3]), k0 - ONE)]
    elif u < n or k0 == row.size:  # or one of the balls
        k = urn.balls[row.first + min(index(u), n - ONE)]
    else:  # or something new
        k = _unseen(urn, row, rng)
        if n < row.limit:
            urn.kinds[row.kinds_first + k0] = k
            row.kinds = k0 + ONE
    if n < row.limit:
        urn.balls[row.first + n] = k
        row.count = n + ONE
        weigh(urn, row)
    return k


@inlined
def _unseen(urn: SparseUrn, row: SparseUrnRow, rng: Generator) -> int:
    """Uniform among the L - k0 outcomes not seen, by rejection."""
    while True:
        k = index(uniform(rng) * row.size)
        j = 0
        while j < row.kinds and urn.kinds[row.kinds_first + j] != k:
            j += 1
        if j == row.kinds:
            return k


@overloads(draw, inline=True)
def _draw_by_kind(urn: types.NamedTuple, g: types.Type, rng: types.Type) -> Callable[..., int]:
    return plain(draw_sparse) if urn.instance_class is SparseUrn else plain(draw_dirichlet)


REDRAW = np.uint16(0xFFFF)
"""Instead of an action: draw once more."""


@njit
def greedy_rollout(model: object, P: I2, s: int, a: int, epsilon: float, rng: Generator) -> int:
    """Epsilon-greedy, ties at random; one random number, mostly, and no branch that it decides."""
    S, M = index(len(P) - 1), P.shape[1]
    while True:
        u = uniform(rng)
        free = u < epsilon
        u = u * (M / epsilon) if free else (u - epsilon) * (M / (1.0 - epsilon))
        a = P[S if free else index(s), min(index(u), index(M - 1))]
        if a != REDRAW:
            return a


implements(rollout_action, Urn, SparseUrn)(greedy_rollout)


# Urns for searches (`simulator.py`): states are listed --, nothing is drawn at the root ---------------------------


@implements(begin, Urn, SparseUrn)
@njit
def _begin(model: Urn | SparseUrn, rng: Generator) -> None:
    pass


@implements(step, Urn, SparseUrn)
@njit
def _step(model: Urn | SparseUrn, s: int, a: int, rng: Generator) -> tuple[int, int, float, bool, int]:
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


@implements(forget, SparseUrn)
@njit
def _forget_sparse(model: SparseUrn, marks: I1, n: int) -> None:
    for t in range(n):
        row = model.rows[marks[t]]
        row.count, row.kinds, row.total = row.seen, row.kinds_seen, row.total_seen
