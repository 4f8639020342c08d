"""Means with confidence intervals.

All intervals are Student's t. A return is a sum over many steps, and a table holds a mean over tens to thousands of
runs, so the mean is close to normal. Student's t then has the stated coverage even for few runs, for which the
percentile bootstrap is too narrow. It uses no random numbers, so the same runs always give the same interval.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from bayesrl.checks import Floats, array, number
from bayesrl.errors import InvalidArgument


class Interval(NamedTuple):
    """A mean and its confidence interval, which is infinite for a single run."""

    mean: float
    low: float
    high: float
    n: int

    @property
    def half_width(self) -> float:
        """Half the length of the interval."""
        return (self.high - self.low) / 2.0

    def to_json(self) -> dict[str, float | int | None]:
        """As JSON; an infinite end is null."""
        low, high = (end if np.isfinite(end) else None for end in (self.low, self.high))
        return {"mean": self.mean, "low": low, "high": high, "n": self.n}


def mean_interval(x: ArrayLike, confidence: float = 0.95) -> Interval:
    """The mean of independent values and its Student t interval.

    >>> [round(end, 4) for end in mean_interval([1.0, 2.0, 3.0])]
    [2.0, -0.4841, 4.4841, 3]
    >>> mean_interval([7.0])
    Interval(mean=7.0, low=-inf, high=inf, n=1)
    """
    x = array("mean_interval", "x", x, (None,))
    mean, half = mean_band(x[None, :], confidence)
    return Interval(float(mean[0]), float(mean[0] - half[0]), float(mean[0] + half[0]), len(x))


def mean_band(x: Floats, confidence: float = 0.95) -> tuple[Floats, Floats]:
    """Mean and half width of the interval for each row of x[t, i]; i are independent replicates."""
    confidence = number("mean_band", "confidence", confidence, 0.0, 1.0, above=True, below=True)
    n = x.shape[1]
    # Equal values must give exactly their mean and no spread, without rounding errors.
    constant = x.min(axis=1) == x.max(axis=1)
    mean = np.where(constant, x[:, 0], x.mean(axis=1))
    if n == 1:
        return mean, np.full(len(x), np.inf)
    error = np.where(constant, 0.0, x.std(axis=1, ddof=1) / np.sqrt(n))
    return mean, error * _quantile(n - 1, confidence)


def paired_difference(x: ArrayLike, y: ArrayLike, confidence: float = 0.95) -> Interval:
    """The mean of x[i] - y[i]; run i of both used the same random numbers, so shared noise cancels."""
    x, y = array("paired_difference", "x", x, (None,)), array("paired_difference", "y", y, (None,))
    if len(x) != len(y):
        raise InvalidArgument("paired_difference", "y", f"of length {len(x)}, as x is", y)
    return mean_interval(x - y, confidence)


def independent_difference(x: ArrayLike, y: ArrayLike, confidence: float = 0.95) -> Interval:
    """The difference of the means of two independent samples (Welch's interval); n is the smaller sample's size."""
    x, y = array("independent_difference", "x", x, (None,)), array("independent_difference", "y", y, (None,))
    a, b = mean_interval(x, confidence), mean_interval(y, confidence)
    mean, n = a.mean - b.mean, min(a.n, b.n)
    if n == 1:
        return Interval(mean, -np.inf, np.inf, n)
    u, v = x.var(ddof=1) / a.n, y.var(ddof=1) / b.n
    if a.half_width == b.half_width == 0.0:
        return Interval(mean, mean, mean, n)
    freedom = (u + v) ** 2 / (u**2 / (a.n - 1) + v**2 / (b.n - 1))  # Welch and Satterthwaite
    half = float(_quantile(freedom, confidence) * np.sqrt(u + v))
    return Interval(mean, mean - half, mean + half, n)


def _quantile(freedom: Any, confidence: float) -> float:
    """The two-sided quantile of Student's t."""
    return float(stdtrit(freedom, 0.5 + confidence / 2.0))
