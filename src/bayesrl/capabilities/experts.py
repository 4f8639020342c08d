"""Capabilities of a belief about the rewards of experts.

The dynamics are known, and rewards are linear in features. What is unknown are their weights, (d,).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    import numpy as np
    from numpy.random import Generator
    from numpy.typing import ArrayLike, NDArray

    from bayesrl.models.mdp import TabularMDP

    Floats = NDArray[np.float64]
    Ints = NDArray[np.integer[Any]]


@runtime_checkable
class RewardPrior(Protocol):
    """A prior over weights."""

    @property
    def low(self) -> float:
        """The smallest weight."""

    @property
    def high(self) -> float:
        """The largest weight."""

    def log_density(self, weights: ArrayLike) -> float:
        """Log density of weights (d,); minus infinity outside the box."""

    def gradient(self, weights: ArrayLike) -> Floats:
        """Gradient of the log density, (d,)."""

    def draw(self, n: int, rng: Generator) -> Floats:
        """n weights drawn from the prior, (n,)."""


class FeatureRewards(Protocol):
    """A known problem whose rewards are linear in features."""

    @property
    def mdp(self) -> TabularMDP:
        """The dynamics, the start and the discount. Its rewards are ignored."""

    @property
    def features(self) -> Floats:
        """phi, (S, A, d). A terminal state has none."""


@runtime_checkable
class HasLinearRewards(Protocol):
    """A belief about the weights of experts' rewards, w, (d,)."""

    @property
    def rewards(self) -> FeatureRewards:
        """The known problem with its features."""

    @property
    def reward_prior(self) -> RewardPrior:
        """The prior over the weights of one expert."""

    @property
    def rationality(self) -> float:
        """How surely an expert takes the best action, c."""
