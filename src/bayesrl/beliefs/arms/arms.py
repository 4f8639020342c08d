"""Functions that beliefs about arms share: reading choices, rewards and logs, and updating arrays.

Arrays have shape (K,) for one experiment or (replicates, K) for experiments in lockstep. A choice is an integer, or an
integer for each replicate. Code uses its index in the flattened arrays.
"""

from __future__ import annotations

import math
from typing import Any, TypeVar

import numpy as np

from bayesrl.beliefs.log import Log, columns
from bayesrl.checks import LARGEST, Floats, Ints, as_array, frozen, integer
from bayesrl.errors import ImpossibleEvidence, InvalidArgument
from bayesrl.parameters import unchecked as unchecked

T = TypeVar("T")
Shape = tuple[int, ...]
MOST = 10**8
"""The largest size of an array of replicates. More numbers would exhaust the memory."""


# Reading data --------------------------------------------------------------------------------------------------------


def check_shapes(owner: str, **named: Floats) -> None:
    """Raise an error unless all arrays have one shape, (K,) or (replicates, K)."""
    first, shape = next(iter(named)), next(iter(named.values())).shape
    if len(shape) not in (1, 2):
        raise InvalidArgument(owner, first, "an array of shape (arms,) or (replicates, arms)", named[first])
    for name, x in named.items():
        check_like(owner, name, x, shape)


def check_like(owner: str, name: str, x: Floats, shape: Shape) -> None:
    """Raise an error if an array has another shape."""
    if x.shape != shape:
        wanted = "(" + ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")"
        raise InvalidArgument(owner, name, f"an array of shape {wanted}", x)


def arm_index(owner: str, shape: Shape, action: Any) -> Any:
    """The index of the chosen arm in the flattened arrays, or an index for each replicate."""
    K = shape[-1]
    if len(shape) == 1:
        return action if type(action) is int and 0 <= action < K else integer(owner, "action", action, 0, K - 1)
    return arm_indices(owner, shape, as_array(action), shape[:-1])


def check_set(owner: str, shape: Shape, action: Any) -> Ints:
    """A set of different arms, or one set for each replicate, (..., M)."""
    items, K = as_array(action), shape[-1]
    if items.dtype.kind not in "iu" or items.shape[:-1] != shape[:-1] or items.ndim != len(shape) or not items.size:
        raise InvalidArgument(owner, "action", f"sets of arms from 0 to {K - 1}", action)
    low, high = items.min(), items.max()
    if low < 0 or high >= K:
        raise InvalidArgument(owner, "action", f"sets of arms from 0 to {K - 1}", action)
    if (np.diff(np.sort(items, axis=-1), axis=-1) == 0).any():
        raise InvalidArgument(owner, "action", "sets of different arms", action)
    return items


def check_reward(owner: str, shape: Shape, reward: Any) -> Any:
    """The reward as a finite float, or one for each replicate."""
    if len(shape) == 1:
        try:
            r = math.nan if isinstance(reward, (str, bytes)) else float(reward)
        except (TypeError, ValueError, OverflowError):
            r = math.nan
        if not -LARGEST <= r <= LARGEST:
            expected = f"at most {LARGEST:g} in size" if math.isfinite(r) else "a finite number"
            raise InvalidArgument(owner, "reward", expected, reward)
        return r
    return check_rewards(owner, as_array(reward), shape[:-1])


def check_binary(owner: str, y: Floats) -> None:
    """Raise an error for rewards other than 0 and 1."""
    bad = (y != 0.0) & (y != 1.0)
    if np.any(bad):
        raise ImpossibleEvidence(owner, f"reward {np.asarray(y)[bad].ravel()[0]:g}", "rewards are 0 or 1")


def read_log(owner: str, shape: Shape, log: Log) -> tuple[Any, Floats]:
    """The indices of a log's choices and its rewards, both (steps,) or (steps, replicates)."""
    action, reward = columns(owner, log, "action", "reward")
    if len(action) == 0:
        return np.zeros(0, np.int64), np.zeros(0)
    return arm_indices(owner, shape, action, (len(action), *shape[:-1])), check_rewards(
        owner, reward, (len(action), *shape[:-1])
    )


def arm_indices(owner: str, shape: Shape, action: Any, wanted: Shape) -> Any:
    """Convert choices to indices in the flattened arrays."""
    if action.shape != wanted or action.dtype.kind not in "iu":
        raise InvalidArgument(owner, "action", f"whole numbers of shape {wanted}", action)
    low, high = int(action.min()), int(action.max())
    if low < 0 or high >= shape[-1]:
        raise InvalidArgument(owner, "action", f"whole numbers from 0 to {shape[-1] - 1}", low if low < 0 else high)
    return action if len(shape) == 1 else action + np.arange(0, shape[0] * shape[1], shape[1])


def check_rewards(owner: str, reward: Any, wanted: Shape) -> Floats:
    """Arrays of rewards, finite everywhere."""
    if reward.shape != wanted or reward.dtype.kind not in "biuf":
        raise InvalidArgument(owner, "reward", f"numbers of shape {wanted}", reward)
    r = np.asarray(reward, np.float64)
    if not np.isfinite(r).all():
        raise InvalidArgument(owner, "reward", "finite everywhere", float(r[~np.isfinite(r)][0]))
    if np.abs(r).max(initial=0.0) > LARGEST:
        raise InvalidArgument(owner, "reward", f"at most {LARGEST:g} in size", float(np.abs(r).max()))
    return r


# Updating arrays -----------------------------------------------------------------------------------------------------


def add_at(x: Floats, where: Any, amount: Any) -> Floats:
    """A read-only copy with `amount` added at these indices (each occurs once)."""
    new = x.copy()
    new.reshape(-1)[where] += amount
    return frozen(new)


def sum_at(shape: Shape, where: Any, amount: Any) -> Floats:
    """An array of this shape with the sum of the amounts at each index (an index may occur often)."""
    weights = np.ravel(np.broadcast_to(amount, np.shape(where)))
    return np.bincount(np.ravel(where), weights, math.prod(shape)).astype(np.float64).reshape(shape)


def tile_replicates(owner: str, replicates: int, *arrays: Floats) -> list[Floats]:
    """The arrays of one experiment, repeated for each replicate."""
    n = integer(owner, "replicates", replicates, 1, MOST // max(arrays[0].size, 1))
    check_single(owner, arrays[0])
    return [frozen(np.tile(x, (n, 1))) for x in arrays]


def check_single(owner: str, x: Floats) -> None:
    """Raise an error if a belief holds replicates."""
    if x.ndim != 1:
        raise InvalidArgument(owner, "belief", "of a single experiment", x)


def distinct_rows(rows: Floats) -> tuple[Floats, Ints]:
    """The distinct rows of a table, sorted, and the index of each row among them (np.unique with axis=0 is slow)."""
    order = np.lexsort(rows.T[::-1])
    new = np.ones(len(rows), np.bool_)
    new[1:] = (rows[order[1:]] != rows[order[:-1]]).any(axis=1)
    which = np.empty(len(rows), np.int64)
    which[order] = np.cumsum(new) - 1
    return rows[order[new]], which


# Forgetting ----------------------------------------------------------------------------------------------------------


def fade_towards(x: Floats, x0: Floats, decay: float) -> Floats:
    """A natural parameter, such as a count, that fades from x towards x0."""
    return frozen((1.0 - decay) * x0 + decay * x)


def fade_normal(kappa: Floats, m: Floats, kappa0: Floats, m0: Floats, decay: float) -> tuple[Floats, Floats, Floats]:
    """The precision and mean of a Gaussian (kappa, m) that fades towards (kappa0, m0).

    The third result is the weighted sum of squared distances of m and m0 from the new mean.
    """
    mixed = (1.0 - decay) * kappa0 + decay * kappa
    back = (1.0 - decay) * kappa0 / mixed
    return frozen(mixed), frozen(m + back * (m0 - m)), decay * kappa * back * (m - m0) ** 2
