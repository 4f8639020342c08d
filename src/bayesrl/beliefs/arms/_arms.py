"""What beliefs about arms share: which entries a choice touches, what a log says, copies that do not check again.

Arrays have shape (K,), one experiment, or (replicates, K), that many in lockstep. A choice is then a whole number, or
one for each replicate; its place in the flattened arrays serves both.
"""

from __future__ import annotations

import math
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from bayesrl.beliefs._log import Log, columns
from bayesrl.checks import Floats, array, frozen, integer
from bayesrl.errors import InvalidArgument

T = TypeVar("T")
Shape = tuple[int, ...]


# What comes in -------------------------------------------------------------------------------------------------------


def arms(owner: str, name: str, x: ArrayLike, shape: Shape | None = None, *, positive: bool = False) -> Floats:
    """A read-only array of shape (K,) or (replicates, K)."""
    y = array(owner, name, x, shape, low=0.0 if positive else -np.inf, above=positive)
    if y.ndim not in (1, 2):
        raise InvalidArgument(owner, name, "an array of shape (arms,) or (replicates, arms)", x)
    return y


def chosen(owner: str, shape: Shape, action: Any) -> Any:
    """The place of the chosen arm in the flattened arrays, or one for each replicate."""
    K = shape[-1]
    if len(shape) == 1:
        return action if type(action) is int and 0 <= action < K else integer(owner, "action", action, 0, K - 1)
    return places(owner, shape, np.asarray(action), shape[:-1])


def paid(owner: str, shape: Shape, reward: Any) -> Any:
    """The reward as a finite float, or one for each replicate."""
    if len(shape) == 1:
        try:
            r = float(reward)
        except (TypeError, ValueError):
            r = math.nan
        if not math.isfinite(r):
            raise InvalidArgument(owner, "reward", "a finite number", reward)
        return r
    return amounts(owner, np.asarray(reward), shape[:-1])


def logged(owner: str, shape: Shape, log: Log) -> tuple[Any, Floats]:
    """The places of a log's choices and its rewards, both (steps,) or (steps, replicates)."""
    action, reward = columns(owner, log, "action", "reward")
    if len(action) == 0:
        return np.zeros(0, np.int64), np.zeros(0)
    return places(owner, shape, action, (len(action), *shape[:-1])), amounts(owner, reward, (len(action), *shape[:-1]))


def places(owner: str, shape: Shape, action: Any, wanted: Shape) -> Any:
    """Arrays of choices as places in the flattened arrays."""
    if action.shape != wanted or action.dtype.kind not in "iu":
        raise InvalidArgument(owner, "action", f"whole numbers of shape {wanted}", action)
    low, high = int(action.min()), int(action.max())
    if low < 0 or high >= shape[-1]:
        raise InvalidArgument(owner, "action", f"whole numbers from 0 to {shape[-1] - 1}", low if low < 0 else high)
    return action if len(shape) == 1 else action + np.arange(0, shape[0] * shape[1], shape[1])


def amounts(owner: str, reward: Any, wanted: Shape) -> Floats:
    """Arrays of rewards, finite everywhere."""
    if reward.shape != wanted or reward.dtype.kind not in "biuf":
        raise InvalidArgument(owner, "reward", f"numbers of shape {wanted}", reward)
    if not np.isfinite(reward).all():
        raise InvalidArgument(owner, "reward", "finite everywhere", float(reward[~np.isfinite(reward)][0]))
    return np.asarray(reward, np.float64)


# What goes out -------------------------------------------------------------------------------------------------------


def raised(x: Floats, where: Any, amount: Any) -> Floats:
    """A read-only copy with the entries at these places raised (each occurs once)."""
    new = x.copy()
    new.reshape(-1)[where] += amount
    return frozen(new)


def summed(shape: Shape, where: Any, amount: Any) -> Floats:
    """The amounts added up at their places, in an array of this shape (a place may occur often)."""
    weights = np.ravel(np.broadcast_to(amount, np.shape(where)))
    return np.bincount(np.ravel(where), weights, math.prod(shape)).astype(np.float64).reshape(shape)


def tiled(owner: str, replicates: int, *arrays: Floats) -> list[Floats]:
    """The arrays of one experiment, repeated for so many replicates."""
    n = integer(owner, "replicates", replicates, 1)
    if arrays[0].ndim != 1:
        raise InvalidArgument(owner, "belief", "of a single experiment", arrays[0])
    return [frozen(np.tile(x, (n, 1))) for x in arrays]


def unchecked(belief: T, **changed: Any) -> T:
    """`dataclasses.replace` without checking again what was checked before."""
    new = object.__new__(type(belief))
    new.__dict__.update(belief.__dict__, **changed)
    return new
