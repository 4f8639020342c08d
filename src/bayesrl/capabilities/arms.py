"""Capabilities of a belief about the arms of a bandit.

A context is the observation before the choice: None, an integer, or a matrix with a row of features for each arm.
Results have shape (K,), or (replicates, K) in lockstep.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, runtime_checkable

import numpy as np

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.integer[Any]]


@runtime_checkable
class SamplesMeans(Protocol):
    """A belief from which the arms' mean rewards can be drawn."""

    def sample_means(self, context: object, rng: Generator) -> Floats:
        """Mean rewards of the arms, drawn from the belief."""


@runtime_checkable
class HasMeans(Protocol):
    """A belief with expected rewards of arms."""

    def mean(self, context: object = None) -> Floats:
        """Expected reward of each arm."""


@runtime_checkable
class HasVariances(Protocol):
    """A belief with posterior variances of arms' mean rewards."""

    def variance(self, context: object = None) -> Floats:
        """Posterior variance of each arm's mean reward."""


@runtime_checkable
class HasQuantiles(Protocol):
    """A belief with posterior quantiles of arms' mean rewards."""

    def quantile(self, p: float, context: object = None) -> Floats:
        """The p-quantile of each arm's mean reward."""


@runtime_checkable
class CountsPlays(Protocol):
    """A belief with the number of plays and the average reward of each arm."""

    def plays(self) -> Floats:
        """The number of plays of each arm, without prior pseudo-counts."""

    def average(self) -> Floats:
        """The average reward of each arm; nan if the arm has not been played."""


class BestArm(NamedTuple):
    """The posterior of the best arm. Leading axes, if any, are replicates."""

    p: Floats
    """P(A* = a), (..., K)."""
    given: Floats
    """E[theta_b | A* = a], (..., K, K), row a."""
    mean: Floats
    """E[theta_b], (..., K)."""
    gain: Callable[[], Floats] | None = None
    """Computes I(A*; Y_a) in nats for each arm, (..., K); None if the rewards are neither 0 or 1 nor Gaussian."""

    @property
    def shortfall(self) -> Floats:
        """Delta_a = E[theta_{A*}] - E[theta_a], (..., K)."""
        best = np.einsum("...a,...aa->...", self.p, self.given)
        return np.asarray(np.maximum(best[..., None] - self.mean, 0.0))

    @property
    def variance(self) -> Floats:
        """v_a = Var(E[theta_a | A*]), (..., K)."""
        return np.asarray(np.einsum("...a,...ab->...b", self.p, (self.given - self.mean[..., None, :]) ** 2))


@runtime_checkable
class HasBestArm(Protocol):
    """A belief with a posterior over which arm is best."""

    @property
    def tells_information(self) -> bool:
        """Whether `best_arm` also computes the information that a play of each arm gives about the best arm."""

    def best_arm(self, context: object = None, samples: int = ..., rng: Generator | None = None) -> BestArm:
        """The distribution of the best arm, and the arms' means given the best arm.

        It is exact if it can be computed by integration or enumeration. Otherwise it is estimated from `samples` draws.
        """


class ArmStates(NamedTuple):
    """Independent arms as bandit processes. The index of an arm is base + scale * (the index of its state)."""

    kind: Literal["bernoulli", "normal"]
    """The kind of state: the two parameters of a Beta, or n of a Gaussian N(0, 1/n) with rewards of unit noise."""
    state: Floats
    """The states, (..., K, 2) or (..., K, 1)."""
    base: Floats | float
    """Added to the index, (..., K)."""
    scale: Floats | float
    """The unit of the index, one for all arms or (K,)."""


class ArmPosteriors(NamedTuple):
    """N posteriors of K arms with Y outcomes. Leading axes, if any, are replicates."""

    prob: Floats
    """P(the next outcome of arm a is y), (..., N, K, Y)."""
    best: Callable[[], Floats]
    """Computes P(no arm is better than arm a), (..., N, K)."""
    drawn: Callable[[], Floats]
    """Computes P(Thompson sampling plays arm a), (..., N, K). It plays the first of equally good arms."""


@runtime_checkable
class ListsPosteriors(Protocol):
    """A belief about arms with finitely many outcomes, with the posteriors after any further rewards."""

    @property
    def gamma(self) -> float:
        """Discount, in [0, 1]."""

    @property
    def n_actions(self) -> int:
        """K."""

    @property
    def posterior_size(self) -> int:
        """The size of one posterior for each arm and outcome, times the number of replicates."""

    def reward_values(self) -> Floats:
        """The possible rewards of every arm, (Y,), or of each arm, (K, Y)."""

    def posteriors_after(self, seen: Ints) -> ArmPosteriors:
        """The N posteriors after arm a has paid reward y another seen[n, a, y] times; `seen` has shape (N, K, Y)."""


@runtime_checkable
class ListsArms(Protocol):
    """A belief with a known number of arms."""

    @property
    def n_actions(self) -> int:
        """K."""


@runtime_checkable
class HasRewardDeviation(Protocol):
    """A belief that bounds the tails of a reward."""

    def reward_deviation(self) -> float:
        """A standard deviation for which every arm's reward is sub-Gaussian, now and after any further rewards."""


@runtime_checkable
class HasPrices(Protocol):
    """A belief about arms that pay 0 or a price that is known."""

    @property
    def prices(self) -> Floats:
        """Reward of a purchase of each arm, (K,)."""


@runtime_checkable
class TakesFeatures(Protocol):
    """A belief whose context may be a matrix with a row of features for each arm."""

    @property
    def n_weights(self) -> int:
        """d, the number of features of an arm."""

    @property
    def features(self) -> Floats | None:
        """The arms' features if they are known in advance, (K, d) or (C, K, d)."""
