"""What bandit worlds share: means of shape (K,), or (replicates, K) for that many worlds in lockstep."""

from __future__ import annotations

import numpy as np

from bayesrl.checks import Floats, Ints, as_array, frozen, integer
from bayesrl.errors import InvalidArgument

MOST = 10**8
"""The most numbers that the means of all replicates may be: with more, memory would run out."""


def picked(owner: str, x: Floats, action: object) -> float | Floats:
    """The entry of the chosen arm, or one entry for each replicate."""
    if x.ndim == 1:
        return x.item(integer(owner, "action", action, 0, len(x) - 1))
    each: Floats = x[np.arange(len(x)), one_each(owner, x.shape[1], len(x), action)]
    return each


def one_each(owner: str, arms: int, replicates: int, action: object) -> Ints:
    """The choice of each replicate, (replicates,)."""
    a = as_array(action)
    if a.shape != (replicates,) or a.dtype.kind not in "iu" or a.min() < 0 or a.max() >= arms:
        expected = f"whole numbers from 0 to {arms - 1}, one for each of {replicates} replicates"
        raise InvalidArgument(owner, "action", expected, action)
    return a


def gap(owner: str, means: Floats, action: object) -> float | Floats:
    """The best arm's mean less the chosen one's: the loss of a step, the unit of regret."""
    lost: float | Floats = means.max(axis=-1) - picked(owner, means, action)
    return lost


def side_by_side(means: Floats, replicates: int) -> Floats:
    """The same means for each replicate, (replicates, K)."""
    return frozen(np.tile(means, (integer("batch", "replicates", replicates, 1, MOST // means.size), 1)))


def check_probabilities(owner: str, means: Floats) -> None:
    """Refuse means that are not probabilities of shape (K,) or (replicates, K)."""
    if means.ndim not in (1, 2) or means.max() > 1.0:
        raise InvalidArgument(owner, "means", "probabilities of shape (arms,)", means)


def shape_of(arms: int, replicates: int | None) -> tuple[int, ...]:
    """The shape of the means that a family draws."""
    return (arms,) if replicates is None else (replicates, arms)
