"""The common parts of bandit worlds. Means have shape (K,), or (replicates, K) for several worlds in lockstep."""

from __future__ import annotations

from typing import ClassVar, Self

import numpy as np
from numpy.random import Generator

from bayesrl.checks import Floats, Ints, as_array, frozen, integer
from bayesrl.errors import InvalidArgument
from bayesrl.parameters import unchecked
from bayesrl.worlds.settings import Published

MOST = 10**8
"""Largest number of entries in the means of all replicates, because of memory."""


def entry_of_arm(owner: str, x: Floats, action: object) -> float | Floats:
    """The entry of the chosen arm, or one entry for each replicate."""
    if x.ndim == 1:
        return x.item(integer(owner, "action", action, 0, len(x) - 1))
    each: Floats = x[np.arange(len(x)), choices_of_replicates(owner, x.shape[1], len(x), action)]
    return each


def choices_of_replicates(owner: str, arms: int, replicates: int, action: object) -> Ints:
    """The choice of each replicate, (replicates,)."""
    a = as_array(action)
    if a.shape != (replicates,) or a.dtype.kind not in "iu" or a.min() < 0 or a.max() >= arms:
        expected = f"whole numbers from 0 to {arms - 1}, one for each of {replicates} replicates"
        raise InvalidArgument(owner, "action", expected, action)
    return a


def repeat_means(means: Floats, replicates: int) -> Floats:
    """The same means for each replicate, (replicates, K)."""
    return frozen(np.tile(means, (integer("batch", "replicates", replicates, 1, MOST // means.size), 1)))


def check_probabilities(owner: str, means: Floats) -> None:
    """Refuse means that are not probabilities of shape (K,) or (replicates, K)."""
    if means.ndim not in (1, 2) or means.max() > 1.0:
        raise InvalidArgument(owner, "means", "probabilities of shape (arms,)", means)


def shape_of(arms: int, replicates: int | None) -> tuple[int, ...]:
    """The shape of the means that a family draws."""
    return (arms,) if replicates is None else (replicates, arms)


class Arms(Published):
    """A bandit without contexts."""

    means: Floats
    name: str

    def batch(self, replicates: int) -> Self:
        """The same arms in each of several replicates in lockstep."""
        return unchecked(self, means=repeat_means(self.means, replicates))

    @property
    def n_actions(self) -> int:
        """K, the arms to choose from."""
        return self.means.shape[-1]


class SingleArms(Arms):
    """A bandit in which one arm is chosen at a time."""

    def reset(self, rng: Generator) -> tuple[None, int]:
        """A bandit has no state."""
        return None, 0

    def gap(self, state: object, action: object) -> float | Floats:
        """The best arm's mean minus the chosen arm's mean: the regret of a step."""
        lost: float | Floats = self.means.max(axis=-1) - entry_of_arm(self.name, self.means, action)
        return lost


class ArmsFamily(Published):
    """A family of bandits."""

    arms: int
    registered: ClassVar[str]
    """The registered name of the family, used in errors."""

    def batch(self, replicates: int) -> Self:
        """The family whose draws hold this number of worlds in lockstep."""
        return unchecked(self, replicates=integer(self.registered, "replicates", replicates, 1))

    @property
    def n_actions(self) -> int:
        """K, the arms to choose from."""
        return self.arms
