"""What bandit worlds share: means of shape (K,), or (replicates, K) for that many worlds in lockstep."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesrl.checks import Floats, frozen, integer


def picked(owner: str, x: Floats, action: Any) -> Any:
    """The entry of the chosen arm: a float, or one for each replicate."""
    if x.ndim == 1:
        return x.item(
            action if type(action) is int and action >= 0 else integer(owner, "action", action, 0, len(x) - 1)
        )
    return np.take_along_axis(x, np.asarray(action)[:, None], axis=1)[:, 0]


def gap(owner: str, means: Floats, action: Any) -> Any:
    """What the chosen arm's mean falls short of the best one's, the unit of regret."""
    return means.max(axis=-1) - picked(owner, means, action)


def side_by_side(means: Floats, replicates: int) -> Floats:
    """The same means for so many replicates."""
    return frozen(np.tile(means, (integer("batch", "replicates", replicates, 1), 1)))


def shape_of(arms: int, replicates: int | None) -> tuple[int, ...]:
    """The shape of a family's draw."""
    return (arms,) if replicates is None else (replicates, arms)
