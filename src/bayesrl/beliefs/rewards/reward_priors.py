"""Priors over the weights of a reward: independent for each weight and cut to a box, or finitely many weights.

A prior answers for a vector of weights w, (d,): its log density, the gradient of that, and draws. Densities are
normalised over the box. With `FinitePrior` a posterior is a finite sum.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike
from scipy import special

from bayesrl._explained import explain_failures
from bayesrl.capabilities import RewardPrior
from bayesrl.checks import Floats, array, frozen, generator, integer, rows_sum_to_one
from bayesrl.errors import InvalidArgument
from bayesrl.parameters import Above, Shape, declared, value


@explain_failures
@declared
class UniformPrior:
    """Weights that are uniform on an interval.

    Examples
    --------
    >>> round(UniformPrior(-1, 1).log_density([0.5, 0.0]), 6)  # log of 1/2 * 1/2
    -1.386294
    """

    low: Annotated[float, "The smallest weight."] = -1.0
    high: Annotated[float, "The largest weight."] = 1.0

    def __post_init__(self) -> None:
        _check_box(self)

    def log_density(self, weights: ArrayLike) -> float:
        """Log density of weights (d,)."""
        w = _weights(self, weights)
        return float(-len(w) * np.log(self.high - self.low)) if _inside(self, w) else -np.inf

    def gradient(self, weights: ArrayLike) -> Floats:
        """Zero."""
        return np.zeros(len(_weights(self, weights)))

    def draw(self, n: int, rng: Generator) -> Floats:
        """n weights drawn from the prior, (n,)."""
        return generator("UniformPrior.draw", rng).uniform(self.low, self.high, integer("UniformPrior.draw", "n", n))


@explain_failures
@declared
class GaussianPrior:
    """Gaussian weights, cut to an interval.

    Examples
    --------
    >>> round(GaussianPrior().log_density([0.0]), 6)  # log of 1 / sqrt(2 pi)
    -0.918939
    """

    mean: Annotated[float, "Mean of a weight before the cut."] = 0.0
    scale: Annotated[float, Above(0), "Standard deviation of a weight before the cut."] = 1.0
    low: float = -np.inf
    """The smallest weight."""
    high: float = np.inf
    """The largest weight."""

    def __post_init__(self) -> None:
        _check_box(self)
        if not self._log_mass > -np.inf:
            raise InvalidArgument("GaussianPrior", "low", "such that the interval has probability", self.low)

    @property
    def _log_mass(self) -> float:
        """Log probability of the interval. It is computed in the tail in which it is accurate."""
        a, b = (self.low - self.mean) / self.scale, (self.high - self.mean) / self.scale
        if a > 0.0:
            a, b = -b, -a
        upper, lower = special.log_ndtr(b), special.log_ndtr(a)
        with np.errstate(divide="ignore", invalid="ignore"):  # an interval without probability is refused
            return float(upper + np.log1p(-np.exp(lower - upper)))

    def log_density(self, weights: ArrayLike) -> float:
        """Log density of weights (d,)."""
        w = _weights(self, weights)
        z = (w - self.mean) / self.scale
        one = 0.5 * z**2 + np.log(self.scale * np.sqrt(2.0 * np.pi)) + self._log_mass
        return float(-one.sum()) if _inside(self, w) else -np.inf

    def gradient(self, weights: ArrayLike) -> Floats:
        """Minus the standardised weights over the scale, (d,)."""
        return np.asarray((self.mean - _weights(self, weights)) / self.scale**2)

    def draw(self, n: int, rng: Generator) -> Floats:
        """n weights drawn from the prior, (n,), by inversion of the distribution function."""
        u = generator("GaussianPrior.draw", rng).random(integer("GaussianPrior.draw", "n", n))
        a, b = (self.low - self.mean) / self.scale, (self.high - self.mean) / self.scale
        sign = -1.0 if a > 0.0 else 1.0  # in the upper tail the mirror image is accurate
        a, b = (-b, -a) if a > 0.0 else (a, b)
        below = np.logaddexp(np.log(u) + special.log_ndtr(b), np.log1p(-u) + special.log_ndtr(a))
        z = special.ndtri_exp(below)  # type: ignore[attr-defined]  # the stubs lack it
        return np.asarray(np.clip(self.mean + sign * self.scale * z, self.low, self.high))


@explain_failures
@declared
class LaplacePrior:
    """Weights with density proportional to exp(-|w| / (2 scale)), cut to an interval.

    Examples
    --------
    >>> bool(np.isclose(LaplacePrior().log_density([1.0]) - LaplacePrior().log_density([0.0]), -1.0))
    True
    """

    scale: Annotated[float, Above(0), "Half the mean size of a weight before the cut."] = 0.5
    low: float = -1.0
    """The smallest weight."""
    high: float = 1.0
    """The largest weight."""

    def __post_init__(self) -> None:
        _check_box(self)

    def _below(self, x: float) -> float:
        """Integral of the density from 0 to x, before it is normalised."""
        return float(-np.sign(x) * np.expm1(-abs(x) / (2.0 * self.scale)))

    def log_density(self, weights: ArrayLike) -> float:
        """Log density of weights (d,)."""
        w = _weights(self, weights)
        if not _inside(self, w):
            return -np.inf
        mass = 2.0 * self.scale * (self._below(self.high) - self._below(self.low))
        return float(-np.abs(w).sum() / (2.0 * self.scale) - len(w) * np.log(mass))

    def gradient(self, weights: ArrayLike) -> Floats:
        """Minus the signs over twice the scale, (d,); 0 at 0."""
        return np.asarray(-np.sign(_weights(self, weights)) / (2.0 * self.scale))

    def draw(self, n: int, rng: Generator) -> Floats:
        """n weights drawn from the prior, (n,), by inversion of the distribution function."""
        u = generator("LaplacePrior.draw", rng).random(integer("LaplacePrior.draw", "n", n))
        mass = (1.0 - u) * self._below(self.low) + u * self._below(self.high)
        return np.clip(-np.sign(mass) * 2.0 * self.scale * np.log1p(-np.abs(mass)), self.low, self.high)


@explain_failures
@value
class FinitePrior:
    """Finitely many vectors of weights. Every posterior with this prior is exact, by enumeration.

    Examples
    --------
    >>> prior = FinitePrior([[0.0, 1.0], [1.0, 0.0]], [0.25, 0.75])
    >>> round(prior.log_density([1.0, 0.0]), 6)  # log of .75
    -0.287682
    """

    weights: Annotated[Floats, Shape("(n, d)"), "The possible weights."]
    probabilities: Annotated[ArrayLike | None, "Their probabilities, (n,); None if all are equally probable."] = None

    def __post_init__(self) -> None:
        w = array("FinitePrior", "weights", self.weights, (None, None))
        if not w.size:
            raise InvalidArgument("FinitePrior", "weights", "at least one vector of weights", self.weights)
        p = np.full(len(w), 1.0 / len(w)) if self.probabilities is None else self.probabilities
        p = array("FinitePrior", "probabilities", p, (len(w),), low=0.0)
        p = frozen(rows_sum_to_one("FinitePrior", "probabilities", p[None], self.probabilities)[0].copy())
        object.__setattr__(self, "probabilities", p)

    @property
    def low(self) -> float:
        """The smallest weight."""
        return float(self.weights.min())

    @property
    def high(self) -> float:
        """The largest weight."""
        return float(self.weights.max())

    def log_density(self, weights: ArrayLike) -> float:
        """Log probability of weights (d,); minus infinity if they are not in the list."""
        w = array("FinitePrior.log_density", "weights", weights, (self.weights.shape[1],))
        with np.errstate(divide="ignore"):
            return float(np.log(np.asarray(self.probabilities)[(self.weights == w).all(axis=1)].sum()))

    def gradient(self, weights: ArrayLike) -> Floats:
        """There is none: `InvalidArgument`."""
        raise InvalidArgument("FinitePrior.gradient", "prior", "a density", "a FinitePrior, which has no gradient")

    def draw(self, n: int, rng: Generator) -> Floats:
        """One of the vectors of weights, (d,); n must be d."""
        integer("FinitePrior.draw", "n", n, self.weights.shape[1], self.weights.shape[1])
        below = np.cumsum(np.asarray(self.probabilities))
        u = generator("FinitePrior.draw", rng).random()
        return np.asarray(self.weights[int(np.searchsorted(below, u * below[-1], side="right"))])


def check_prior(owner: str, name: str, reward_prior: object, n_weights: int) -> RewardPrior:
    """Raise an error for anything but a prior over this many weights."""
    if not isinstance(reward_prior, RewardPrior) or isinstance(reward_prior, type):
        raise InvalidArgument(owner, name, "a prior over weights, such as UniformPrior(-1, 1)", reward_prior)
    if isinstance(reward_prior, FinitePrior) and reward_prior.weights.shape[1] != n_weights:
        expected = f"over {n_weights} weights, one for each feature"
        raise InvalidArgument(owner, name, expected, f"one over {reward_prior.weights.shape[1]}")
    return reward_prior


def finite(reward_prior: RewardPrior) -> FinitePrior | None:
    """The prior if it has finitely many weights, else None."""
    return reward_prior if isinstance(reward_prior, FinitePrior) else None


Boxed = UniformPrior | GaussianPrior | LaplacePrior


def _check_box(prior: Boxed) -> None:
    owner = type(prior).__name__
    for name in ("low", "high"):
        x = getattr(prior, name)
        try:  # not `number`, as an interval may be infinite
            y = float(x) if isinstance(x, (int, float, np.integer, np.floating)) and not isinstance(x, bool) else np.nan
        except OverflowError:
            y = np.nan
        if np.isnan(y):
            raise InvalidArgument(owner, name, "a number", x)
        object.__setattr__(prior, name, y)
    if not prior.low < prior.high:
        raise InvalidArgument(owner, "low", f"below high, {prior.high:g}", prior.low)


def _weights(prior: Boxed, weights: ArrayLike) -> Floats:
    return array(type(prior).__name__, "weights", weights, (None,))


def _inside(prior: Boxed, w: Floats) -> bool:
    return bool(((w >= prior.low) & (w <= prior.high)).all())
