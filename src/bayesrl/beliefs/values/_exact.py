"""The posterior of a Gaussian process given its observations, as users ask for it."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from bayesrl.beliefs.covariances import Covariance, points
from bayesrl.beliefs.values.gaussian import GaussianFunction, nonnegative
from bayesrl.beliefs.values.observations import Observations
from bayesrl.checks import Floats
from bayesrl.errors import InvalidArgument
from bayesrl.traits import Traits


class ExactPosterior(GaussianFunction):
    """Mean, covariance and evidence of a belief with a prior covariance and observations."""

    prior_covariance: Covariance
    data: Observations | None
    traits: ClassVar[Traits] = Traits(renamed={"prior_covariance": "covariance"}, grows=("data",))

    def check_grown(self) -> None:
        """Refuse fields that do not belong together."""
        if not isinstance(self.data, Observations | None):
            raise InvalidArgument(type(self).__name__, "data", "observations", self.data)

    @property
    def dims(self) -> int | None:
        """Coordinates of a point; None before the first datum."""
        return None if self.data is None else self.data.points.shape[1]

    def mean(self, states: ArrayLike) -> Floats:
        """Posterior means at states, shape (n,)."""
        Z = points(f"{type(self).__name__}.mean", "states", states, self.dims)
        return (
            np.zeros(len(Z))
            if self.data is None
            else np.asarray(self.data.project(self.prior_covariance, Z).T @ self.data.w)
        )

    def covariance(self, states: ArrayLike) -> Floats:
        """Posterior covariance at states, shape (n, n)."""
        Z = points(f"{type(self).__name__}.covariance", "states", states, self.dims)
        K = self.prior_covariance.matrix(Z, Z)
        if self.data is None:
            return K
        U = self.data.project(self.prior_covariance, Z)
        return np.asarray(K - U.T @ U)

    def variance(self, states: ArrayLike) -> Floats:
        """Posterior variances at states, shape (n,)."""
        owner = f"{type(self).__name__}.variance"
        Z = points(owner, "states", states, self.dims)
        k = self.prior_covariance.variances(Z)
        U = np.zeros((0, len(Z))) if self.data is None else self.data.project(self.prior_covariance, Z)
        return nonnegative(owner, k - np.sum(U * U, axis=0), k)

    def prior_variances(self, states: ArrayLike) -> Floats:
        """Prior variances at states, shape (n,)."""
        return self.prior_covariance.diagonal(states)

    def log_evidence(self) -> float:
        """Logarithm of the density of the data seen."""
        return 0.0 if self.data is None else self.data.log_evidence()
