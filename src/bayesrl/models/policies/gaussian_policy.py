"""Gaussian policies: a real action vector with mean W x."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from bayesrl._explained import explain_failures
from bayesrl.checks import Floats, array, generator, number
from bayesrl.models.policies._sampling import Memoryless
from bayesrl.parameters import Above, Shape, value


@explain_failures
@value
class GaussianPolicy(Memoryless):
    """A Gaussian action vector with mean W x for observation x, and independent entries of equal standard deviation.

    Examples
    --------
    >>> policy = GaussianPolicy([[2.0, 0.0]], spread=0.5)
    >>> policy.score([1.0, 3.0], [2.5]).tolist()
    [2.0, 6.0]
    """

    weights: Annotated[
        Floats, Shape("(m, d)"), "W: maps an observation of d numbers to the mean of an action of m numbers."
    ]
    spread: Annotated[float, Above(0), "Standard deviation of each entry of the action."] = 1.0

    def __post_init__(self) -> None:
        array("GaussianPolicy", "weights", self.weights, (None, None))
        object.__setattr__(self, "spread", number("GaussianPolicy", "spread", self.spread, 0.0, above=True))

    def sample(self, observation: ArrayLike, rng: Generator) -> Floats:
        """An action drawn from the policy, shape (m,)."""
        mean = self._mean(observation)
        return mean + self.spread * generator("GaussianPolicy", rng).standard_normal(len(mean))

    def log_prob(self, observation: ArrayLike, action: ArrayLike) -> float:
        """The logarithm of an action's density."""
        z = self._deviation(observation, action) / self.spread
        return float(-0.5 * z @ z - len(z) * np.log(self.spread * np.sqrt(2.0 * np.pi)))

    def score(self, observation: ArrayLike, action: ArrayLike) -> Floats:
        """The gradient of `log_prob` in W, row by row, shape (m * d,)."""
        z = self._deviation(observation, action) / self.spread**2
        return np.outer(z, self._observed(observation)).ravel()

    def _observed(self, observation: ArrayLike) -> Floats:
        return array("GaussianPolicy", "observation", observation, (self.weights.shape[1],))

    def _mean(self, observation: ArrayLike) -> Floats:
        return np.asarray(self.weights @ self._observed(observation))

    def _deviation(self, observation: ArrayLike, action: ArrayLike) -> Floats:
        chosen = array("GaussianPolicy", "action", action, (len(self.weights),))
        return chosen - self._mean(observation)
