"""The linear regulator of the Bayesian policy gradient (Ghavamzadeh and Engel 2006; survey §5.2).

x_0 ~ N(.3, sd .001), x' = x + a + N(0, sd .01), cost x^2 + .1 a^2, 20 steps. The policy is a ~ N(lambda x, sd sigma)
with lambda = -1.999 + 1.998 / (1 + e^k1) and sigma = .001 + 1 / (1 + e^k2). The best gain is -.916 and its cost .100342
at sigma = .001. (Read as variances, the published spreads would give .3067, so they are standard deviations.)
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from bayesrl.beliefs.covariances import Gaussian
from bayesrl.beliefs.features import Polynomial
from bayesrl.checks import Floats, array, frozen, generator, number
from bayesrl.core import WorldStep
from bayesrl.models.policies._sampling import Memoryless
from bayesrl.parameters import DISCOUNT, AtLeast, Shape, value
from bayesrl.registry import register
from bayesrl.worlds._settings import Setting
from bayesrl.worlds.continuous._box import WIDE, Bounds, BoxWorld

START, START_SPREAD, SPREAD, EFFORT = 0.3, 0.001, 0.01, 0.1


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


@register(
    "bpg-regulator",
    kind="world",
    survey="5.2",
    paper="Ghavamzadeh06BP",
    evidence=("tests/worlds/test_continuous.py::test_bandit_and_regulator_by_hand",),
)
@value
class BPGRegulator(BoxWorld):
    """A linear system to be kept near zero for 20 steps, at the cost x^2 + .1 a^2 of each.

    Examples
    --------
    >>> round(BPGRegulator().step(np.array([0.3]), [-0.3], np.random.default_rng(0)).reward, 6)
    -0.099
    """

    gamma: Annotated[float, DISCOUNT, "Discount."] = 1.0
    horizon: Annotated[int, AtLeast(1), "Steps of an episode."] = 20
    ends: ClassVar[bool] = False
    setting: ClassVar[Setting] = Setting(steps=40_000)  # type: ignore[misc]  # one for all

    @property
    def observations(self) -> Bounds:
        """Real numbers; Gymnasium wants bounds, so there are wide ones."""
        return Bounds.of([-WIDE], [WIDE])

    @property
    def actions(self) -> Bounds:
        """Real numbers; Gymnasium wants bounds, so there are wide ones."""
        return Bounds.of([-WIDE], [WIDE])

    @property
    def defaults(self) -> Mapping[str, Mapping[str, Any]]:
        """The policy of the paper, at parameters 0; values are nearly quadratic.

        Critics need a discount below 1, because the episodes do not end but are cut off.
        """
        squares = Polynomial(degree=2)
        k = Gaussian(scale=1.0, variance=10.0)
        gradient = {"policy": RegulatorPolicy(np.zeros(2)), "features": squares, "covariance": k}
        critic = {"gamma": min(self.gamma, 0.99)}
        return {"gradient": gradient, "bac": critic, "actor-critic": critic}

    @property
    def best_return(self) -> float | None:
        """Minus the cost of the best gain with sigma = .001."""
        return -0.100342 if (self.gamma, self.horizon) == (1.0, 20) else None

    def reset(self, rng: Generator) -> tuple[Floats, Floats]:
        """Near .3."""
        x = frozen(np.array([generator("bpg-regulator", rng).normal(START, START_SPREAD)]))
        return x, x

    def step(self, state: Floats, action: Any, rng: Generator) -> WorldStep:
        """The next state, and minus the cost of this one."""
        x, a = _number("state", state), _number("action", action)
        new = frozen(np.array([x + a + generator("bpg-regulator", rng).normal(0.0, SPREAD)]))
        return WorldStep(new, new, -(x * x + EFFORT * a * a), False)


def _squeeze(k: float) -> float:
    """1 / (1 + e^k), without overflow."""
    return 1.0 / (1.0 + math.exp(k)) if k < 0.0 else math.exp(-k) / (1.0 + math.exp(-k))


def _number(name: str, x: Any) -> float:
    """A number, or a vector of one."""
    return number("bpg-regulator", name, x[0] if np.shape(x) == (1,) else x)
