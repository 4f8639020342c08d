"""The policy of the linear regulator (Ghavamzadeh and Engel 2006; survey §5.2).

a ~ N(lambda x, sd sigma) with lambda = -1.999 + 1.998 / (1 + e^k1) and sigma = .001 + 1 / (1 + e^k2).
"""

from __future__ import annotations

import math
from typing import Annotated, Any

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from bayesrl.checks import Floats, array, generator, number
from bayesrl.models.policies.sampling import Memoryless
from bayesrl.parameters import Shape, value


@value
class RegulatorPolicy(Memoryless):
    """a ~ N(lambda x, sd sigma), with lambda and sigma squeezed into ranges.

    Examples
    --------
    >>> policy = RegulatorPolicy([0.0, 0.0])
    >>> policy.gain, policy.sigma
    (-1.0, 0.501)
    """

    theta: Annotated[Floats, Shape("(2,)"), "k1 and k2."]

    def __post_init__(self) -> None:
        array("RegulatorPolicy", "theta", self.theta, (2,))

    @property
    def gain(self) -> float:
        """lambda."""
        return -1.999 + 1.998 * _squeeze(float(self.theta[0]))

    @property
    def sigma(self) -> float:
        """Standard deviation of the action."""
        return 0.001 + _squeeze(float(self.theta[1]))

    @property
    def parameters(self) -> Floats:
        """k1 and k2."""
        return self.theta

    def with_parameters(self, parameters: ArrayLike) -> RegulatorPolicy:
        """The same policy with other parameters."""
        return RegulatorPolicy(array("RegulatorPolicy", "parameters", parameters, (2,)))

    def sample(self, observation: Any, rng: Generator) -> Floats:
        """An action, shape (1,)."""
        x = _number("observation", observation)
        return np.array([self.gain * x + self.sigma * generator("RegulatorPolicy", rng).standard_normal()])

    def log_prob(self, observation: Any, action: Any) -> float:
        """The logarithm of the action's density."""
        z = (_number("action", action) - self.gain * _number("observation", observation)) / self.sigma
        return -0.5 * z * z - math.log(self.sigma * math.sqrt(2.0 * math.pi))

    def score(self, observation: Any, action: Any) -> Floats:
        """The gradient of `log_prob` in (k1, k2), shape (2,)."""
        x, s = _number("observation", observation), self.sigma
        z = (_number("action", action) - self.gain * x) / s
        p, q = (_squeeze(float(k)) for k in self.theta)
        return np.array([z * x / s * -1.998 * p * (1.0 - p), (z * z - 1.0) / s * -q * (1.0 - q)])

    def hessian(self, observation: Any, action: Any) -> Floats:
        """The second derivatives of `log_prob` in (k1, k2), shape (2, 2)."""
        x, s = _number("observation", observation), self.sigma
        z = (_number("action", action) - self.gain * x) / s
        p, q = (_squeeze(float(k)) for k in self.theta)
        gain1, gain2 = -1.998 * p * (1.0 - p), 1.998 * p * (1.0 - p) * (1.0 - 2.0 * p)
        s1, s2 = -q * (1.0 - q), q * (1.0 - q) * (1.0 - 2.0 * q)
        both = -2.0 * z * x / (s * s) * gain1 * s1
        return np.array(
            [
                [-((x / s * gain1) ** 2) + z * x / s * gain2, both],
                [both, (1.0 - 3.0 * z * z) / (s * s) * s1 * s1 + (z * z - 1.0) / s * s2],
            ]
        )


def _squeeze(k: float) -> float:
    """1 / (1 + e^k), without overflow."""
    return 1.0 / (1.0 + math.exp(k)) if k < 0.0 else math.exp(-k) / (1.0 + math.exp(-k))


def _number(name: str, x: Any) -> float:
    """A number, or a vector of one."""
    return number("RegulatorPolicy", name, x[0] if np.shape(x) == (1,) else x)
