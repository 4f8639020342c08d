"""Three further functions of a simulator (`simulator.py`), for searches that return to a history:

    replay(model, s, a, k)        take the step from (s, a) with the given outcome k
    undo(model, s, a, k)          undo the last step, which was from (s, a) with outcome k
    likelihood(model, s, a, k)    the predictive probability of outcome k

In an urn (`urn.py`, `reward_urn.py`), replaying a step puts in its ball, and undoing it takes out the last ball.
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any

from bayesrl.kernels.jit import njit
from bayesrl.kernels.simulators.reward_urn import RewardUrn
from bayesrl.kernels.simulators.simulator import Simulator, implements
from bayesrl.kernels.simulators.sparse_urn import SparseUrn, unseen_probability, weigh
from bayesrl.kernels.simulators.urn import ONE, Urn


@singledispatch
def replay(model: Simulator, s: int, a: int, k: int) -> None:
    """Take the step from (s, a) with the given outcome k."""


@singledispatch
def undo(model: Simulator, s: int, a: int, k: int) -> None:
    """Undo the last step, which was from (s, a) with outcome k."""


@singledispatch
def likelihood(model: Simulator, s: int, a: int, k: int) -> float:
    """The predictive probability of outcome k of (s, a)."""
    raise NotImplementedError


@singledispatch
def put_ball(urn: object, g: int, k: int) -> None:
    """Put a ball of outcome k into urn g."""


@singledispatch
def take_ball(urn: object, g: int) -> None:
    """Take out the last ball of urn g."""


@singledispatch
def ball_probability(urn: object, g: int, k: int) -> float:
    """The probability that the next draw from urn g is outcome k."""
    raise NotImplementedError


# Dirichlet urns ------------------------------------------------------------------------------------------------------


@implements(put_ball, Urn)
@njit
def _put_ball_dirichlet(urn: Urn, g: int, k: int) -> None:
    row = urn.rows[g]
    if row.count < row.limit:
        urn.balls[row.first + row.count] = k
        row.count += ONE
        row.total += 1.0


@implements(take_ball, Urn)
@njit
def _take_ball_dirichlet(urn: Urn, g: int) -> None:
    row = urn.rows[g]
    if row.count > row.seen:
        row.count -= ONE
        row.total = row.mass + row.count


@implements(ball_probability, Urn)
@njit
def _ball_probability_dirichlet(urn: Urn, g: int, k: int) -> float:
    row = urn.rows[g]
    weight: float = urn.cdf[row.prior, k] - (urn.cdf[row.prior, k - 1] if k > 0 else 0.0)
    total: float = row.total
    return (weight + count_balls(urn, row, k)) / total


@njit
def count_balls(urn: Urn | SparseUrn, row: Any, k: int) -> int:
    """The number of balls of outcome k in an urn, from the data and from the running simulation."""
    count = 0
    for j in range(row.first, row.first + row.count):
        if urn.balls[j] == k:
            count += 1
    return count


# Sparse urns ---------------------------------------------------------------------------------------------------------


@implements(put_ball, SparseUrn)
@njit
def _put_ball_sparse(urn: SparseUrn, g: int, k: int) -> None:
    row = urn.rows[g]
    if count_balls(urn, row, k) == 0:
        urn.kinds[row.first + row.kinds] = k
        row.kinds += ONE
    urn.balls[row.first + row.count] = k
    row.count += ONE
    weigh(urn, row)


@implements(take_ball, SparseUrn)
@njit
def _take_ball_sparse(urn: SparseUrn, g: int) -> None:
    row = urn.rows[g]
    row.count -= ONE
    if count_balls(urn, row, urn.balls[row.first + row.count]) == 0:
        row.kinds -= ONE
    weigh(urn, row)


@implements(ball_probability, SparseUrn)
@njit
def _ball_probability_sparse(urn: SparseUrn, g: int, k: int) -> float:
    row = urn.rows[g]
    alpha: float = urn.prior[0]
    k0, N, n = row.kinds, row.count, count_balls(urn, row, k)
    size: float = row.among
    total: float = row.total
    if n > 0:
        return (alpha + n) / total
    return unseen_probability(k0, N, size, alpha, total) if k < size else 0.0


# Steps ---------------------------------------------------------------------------------------------------------------


@implements(replay, Urn, SparseUrn)
@njit
def _replay(model: Urn | SparseUrn, s: int, a: int, k: int) -> None:
    put_ball(model, model.place[s, a, 0], k)


@implements(undo, Urn, SparseUrn)
@njit
def _undo(model: Urn | SparseUrn, s: int, a: int, k: int) -> None:
    take_ball(model, model.place[s, a, 0])


@implements(likelihood, Urn, SparseUrn)
@njit
def _likelihood(model: Urn | SparseUrn, s: int, a: int, k: int) -> float:
    return ball_probability(model, model.place[s, a, 0], k)


@implements(replay, RewardUrn)
@njit
def _replay_paid(model: RewardUrn, s: int, a: int, k: int) -> None:
    V = len(model.values)
    put_ball(model.moves, model.moves.place[s, a, 0], k // V)
    put_ball(model.rewards, model.cell[s, a, k // V], k % V)


@implements(undo, RewardUrn)
@njit
def _undo_paid(model: RewardUrn, s: int, a: int, k: int) -> None:
    take_ball(model.moves, model.moves.place[s, a, 0])
    take_ball(model.rewards, model.cell[s, a, k // len(model.values)])


@implements(likelihood, RewardUrn)
@njit
def _likelihood_paid(model: RewardUrn, s: int, a: int, k: int) -> float:
    V = len(model.values)
    p = ball_probability(model.moves, model.moves.place[s, a, 0], k // V)
    return p * ball_probability(model.rewards, model.cell[s, a, k // V], k % V)
