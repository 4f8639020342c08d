"""A function linear in features, with a Gaussian belief about the weights."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bayesrl.beliefs.features import Features
from bayesrl.beliefs.values.gaussian import GaussianFunction, nonnegative
from bayesrl.checks import Floats
from bayesrl.errors import InvalidArgument


class LinearPosterior(GaussianFunction):
    """The values phi(x)'W at points, for weights W of known mean and covariance."""

    features: Features
    prior_variance: float

    def weight_moments(self) -> tuple[Floats, Floats]:
        """Mean, (k,), and covariance, (k, k), of the weights."""
        raise NotImplementedError

    def mean(self, states: ArrayLike) -> Floats:
        """Posterior means at states, shape (n,)."""
        return np.asarray(self.features(states) @ self.weight_moments()[0])

    def covariance(self, states: ArrayLike) -> Floats:
        """Posterior covariance at states, shape (n, n)."""
        phi = self.features(states)
        return np.asarray(phi @ self.weight_moments()[1] @ phi.T)

    def variance(self, states: ArrayLike) -> Floats:
        """Posterior variances at states, shape (n,)."""
        phi = self.features(states)
        found = np.sum(phi @ self.weight_moments()[1] * phi, axis=1)
        return nonnegative(type(self).__name__, found, self.prior_variances(states))

    def prior_variances(self, states: ArrayLike) -> Floats:
        """Prior variances at states, shape (n,)."""
        return np.asarray(self.prior_variance * np.sum(self.features(states) ** 2, axis=1))


def check_features(owner: str, features: object) -> None:
    """Refuse what are not features."""
    if not isinstance(features, Features):
        raise InvalidArgument(owner, "features", "features, such as features.Tabular(5)", features)
