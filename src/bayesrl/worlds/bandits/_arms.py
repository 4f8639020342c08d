"""What bandit worlds share: means of shape (K,), or (replicates, K) for that many worlds in lockstep."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesrl.checks import Floats, frozen, integer
from bayesrl.errors import InvalidArgument


def picked(owner: str, x: Floats, action: Any) -> Any:
    """The entry of the chosen arm: a float, or one for each replicate."""
    if x.ndim == 1:
        return x.item(integer(owner, "action", action, 0, len(x) - 1))
    return x[np.arange(len(x)), one_each(owner, x.shape[1], len(x), action)]


def one_each(owner: str, arms: int, replicates: int, action: Any) -> Any:
    """One arm for each replicate."""
    a = np.asarray(action)
    if a.shape != (replicates,) or a.dtype.kind not in "iu" or a.min() < 0 or a.max() >= arms:
        expected = f"whole numbers from 0 to {arms - 1}, one for each of {replicates} replicates"
        raise InvalidArgument(owner, "action", expected, action)
    return a


def gap(owner: str, means: Floats, action: Any) -> Any:
    """What the chosen arm's mean falls short of the best one's, the unit of regret."""
    return means.max(axis=-1) - picked(owner, means, action)


def side_by_side(means: Floats, replicates: int) -> Floats:
    """The same means for so many replicates."""
    return frozen(np.tile(means, (integer("batch", "replicates", replicates, 1), 1)))


def shape_of(arms: int, replicates: int | None) -> tuple[int, ...]:
    """The shape of a family's draw."""
    return (arms,) if replicates is None else (replicates, arms)
