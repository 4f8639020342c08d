"""The readings of a Gaussian belief about a function, given its mean and covariance at points."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike
from scipy.special import ndtri

from bayesrl.checks import Floats, generator, integer, probability
from bayesrl.errors import InvalidArgument

NEGATIVE = 1e-8
"""A variance that is negative by less than this share of the prior's is rounding and read as zero."""


class GaussianFunction(ABC):
    """Quantiles and draws of a Gaussian belief about a function."""

    @abstractmethod
    def mean(self, states: ArrayLike) -> Floats:
        """Posterior means at points, shape (n,)."""

    @abstractmethod
    def covariance(self, states: ArrayLike) -> Floats:
        """Posterior covariance at points, shape (n, n)."""

    @abstractmethod
    def variance(self, states: ArrayLike) -> Floats:
        """Posterior variances at points, shape (n,)."""

    @abstractmethod
    def prior_variances(self, states: ArrayLike) -> Floats:
        """Prior variances at points, shape (n,)."""

    def quantile(self, p: float, states: ArrayLike) -> Floats:
        """The p-quantile of the value at each point, shape (n,)."""
        p = probability(f"{type(self).__name__}.quantile", "p", p)
        deviation = np.sqrt(self.variance(states))
        with np.errstate(invalid="ignore"):
            move = np.where(deviation > 0.0, deviation * ndtri(p), 0.0)
        return self.mean(states) + move

    def sample(self, states: ArrayLike, rng: Generator, draws: int = 1) -> Floats:
        """Joint draws of the values at points, shape (draws, n)."""
        owner = f"{type(self).__name__}.sample"
        z = generator(owner, rng).standard_normal
        n = integer(owner, "draws", draws, 1)
        mean = self.mean(states)
        values, vectors = np.linalg.eigh(self.covariance(states))
        root = vectors * np.sqrt(nonnegative(owner, values, self.prior_variances(states).sum()))
        return np.asarray(mean + z((n, len(mean))) @ root.T)


def nonnegative(owner: str, variance: Floats, prior_variance: Floats | float) -> Floats:
    """Variances, in which rounding below zero, measured by the prior's, is read as zero. Others are refused."""
    if (variance < -NEGATIVE * np.abs(prior_variance)).any():
        raise not_positive(owner, float(variance.min()))
    return np.maximum(variance, 0.0)


def not_positive(owner: str, variance: float) -> InvalidArgument:
    """The error about a covariance that is none."""
    hint = "Every covariance of this library is positive definite: if this is one of them, please report it."
    return InvalidArgument(owner, "covariance", "positive definite", f"a variance of {variance:.3g}", hint)
