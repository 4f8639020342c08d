"""The common parts of worlds with vectors: bounds and a time limit."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, NamedTuple

import numpy as np

from bayesrl.checks import Floats, array, as_array, frozen, integer
from bayesrl.errors import InvalidArgument
from bayesrl.worlds.settings import Published

WIDE = 1e6
"""Bounds of real numbers that have none."""


class Bounds(NamedTuple):
    """A box of vectors between two corners, each of shape (d,)."""

    low: Floats
    high: Floats

    @staticmethod
    def of(low: Any, high: Any) -> Bounds:
        """Bounds from two lists of numbers."""
        return Bounds(frozen(np.atleast_1d(np.asarray(low, float))), frozen(np.atleast_1d(np.asarray(high, float))))


class BoxWorld(Published, ABC):
    """A world that says how long an episode may last, and between which bounds it moves."""

    registered: ClassVar[str]
    """The registered name."""
    gamma: float
    horizon: int
    ends: ClassVar[bool] = True
    """Whether an episode can end, other than by its horizon."""

    @property
    @abstractmethod
    def observations(self) -> Bounds | int:
        """Bounds of what is observed, or the number of observations."""

    @property
    @abstractmethod
    def actions(self) -> Bounds | int:
        """Bounds of actions, or their number."""

    @property
    def best_return(self) -> float | None:
        """The largest expected return of an episode, discounted; None: not known."""
        return None


def check_action(world: str, actions: Bounds | int, action: Any) -> Any:
    """An index, or a vector inside the box (rounding at its faces is clipped)."""
    if isinstance(actions, int):
        return integer(world, "action", action, 0, actions - 1)
    a = array(world, "action", np.atleast_1d(as_array(action)), actions.low.shape)
    slack = 1e-9 * (1.0 + np.abs(actions.high))
    if (a < actions.low - slack).any() or (a > actions.high + slack).any():
        raise InvalidArgument(world, "action", f"between {actions.low.tolist()} and {actions.high.tolist()}", action)
    return np.clip(a, actions.low, actions.high)
