"""What a search that comes back to a history asks of a simulator, besides the four functions of `simulator.py`:

    replay(model, s, a, k)        take the step from (s, a) whose outcome k is known
    undo(model, s, a, k)          take back the last step of the simulation, which was this one
    likelihood(model, s, a, k)    the probability of that outcome

For urns (`urn.py`, `paid_urn.py`): to replay a step is to put its ball in, to undo it to take the last ball out.
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any

from bayesrl.kernels.jit import njit
from bayesrl.kernels.paid_urn import PaidUrn
from bayesrl.kernels.simulator import implements
from bayesrl.kernels.urn import ONE, SparseUrn, Urn, new_chance, weigh


@singledispatch
def replay(model: object, s: int, a: int, k: int) -> None:
    """Take the step from (s, a) with outcome k."""


@singledispatch
def undo(model: object, s: int, a: int, k: int) -> None:
    """Take back the last step, from (s, a) with outcome k."""


@singledispatch
def likelihood(model: object, s: int, a: int, k: int) -> float:
    """Probability of outcome k of (s, a)."""
    raise NotImplementedError


@singledispatch
def put(urn: object, g: int, k: int) -> None:
    """Put a ball of outcome k into urn g."""


@singledispatch
def take_out(urn: object, g: int) -> None:
    """Take the last ball of urn g out again."""


@singledispatch
def share(urn: object, g: int, k: int) -> float:
    """Probability that the next ball of urn g is of outcome k."""
    raise NotImplementedError


# Dirichlet urns ------------------------------------------------------------------------------------------------------


@implements(put, Urn)
@njit
def _put_dirichlet(urn: Urn, g: int, k: int) -> None:
    row = urn.rows[g]
    if row.count < row.limit:
        urn.balls[row.first + row.count] = k
        row.count += ONE
        row.total += 1.0


@implements(take_out, Urn)
@njit
def _take_out_dirichlet(urn: Urn, g: int) -> None:
    row = urn.rows[g]
    if row.count > row.seen:
        row.count -= ONE
        row.total = row.mass + row.count


@implements(share, Urn)
@njit
def _share_dirichlet(urn: Urn, g: int, k: int) -> float:
    row = urn.rows[g]
    weight: float = urn.cdf[row.prior, k] - (urn.cdf[row.prior, k - 1] if k > 0 else 0.0)
    total: float = row.total
    return (weight + balls(urn, row, k)) / total


@njit
def balls(urn: Urn | SparseUrn, row: Any, k: int) -> int:
    """The number of balls of outcome k in an urn: seen, and of the running simulation."""
    count = 0
    for j in range(row.first, row.first + row.count):
        if urn.balls[j] == k:
            count += 1
    return count


# Sparse urns ---------------------------------------------------------------------------------------------------------


@implements(put, SparseUrn)
@njit
def _put_sparse(urn: SparseUrn, g: int, k: int) -> None:
    row = urn.rows[g]
    if balls(urn, row, k) == 0:
        urn.kinds[row.kinds_first + row.kinds] = k
        row.kinds += ONE
    urn.balls[row.first + row.count] = k
    row.count += ONE
    weigh(urn, row)


@implements(take_out, SparseUrn)
@njit
def _take_out_sparse(urn: SparseUrn, g: int) -> None:
    row = urn.rows[g]
    row.count -= ONE
    if balls(urn, row, urn.balls[row.first + row.count]) == 0:
        row.kinds -= ONE
    weigh(urn, row)


@implements(share, SparseUrn)
@njit
def _share_sparse(urn: SparseUrn, g: int, k: int) -> float:
    row = urn.rows[g]
    alpha: float = urn.prior[0]
    k0, N, n = row.kinds, row.count, balls(urn, row, k)
    size: float = row.size
    total: float = row.total
    if n > 0:
        return (alpha + n) / total
    return new_chance(k0, N, size, alpha, total) if k < size else 0.0


# Steps ---------------------------------------------------------------------------------------------------------------


@implements(replay, Urn, SparseUrn)
@njit
def _replay(model: Urn | SparseUrn, s: int, a: int, k: int) -> None:
    put(model, model.place[s, a, 0], k)


@implements(undo, Urn, SparseUrn)
@njit
def _undo(model: Urn | SparseUrn, s: int, a: int, k: int) -> None:
    take_out(model, model.place[s, a, 0])


@implements(likelihood, Urn, SparseUrn)
@njit
def _likelihood(model: Urn | SparseUrn, s: int, a: int, k: int) -> float:
    return share(model, model.place[s, a, 0], k)


@implements(replay, PaidUrn)
@njit
def _replay_paid(model: PaidUrn, s: int, a: int, k: int) -> None:
    V = len(model.values)
    put(model.moves, model.moves.place[s, a, 0], k // V)
    put(model.pays, model.cell[s, a, k // V], k % V)


@implements(undo, PaidUrn)
@njit
def _undo_paid(model: PaidUrn, s: int, a: int, k: int) -> None:
    take_out(model.moves, model.moves.place[s, a, 0])
    take_out(model.pays, model.cell[s, a, k // len(model.values)])


@implements(likelihood, PaidUrn)
@njit
def _likelihood_paid(model: PaidUrn, s: int, a: int, k: int) -> float:
    V = len(model.values)
    p = share(model.moves, model.moves.place[s, a, 0], k // V)
    return p * share(model.pays, model.cell[s, a, k // V], k % V)
