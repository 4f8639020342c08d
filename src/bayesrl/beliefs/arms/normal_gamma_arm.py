"""Gaussian arms of unknown mean and variance, with a normal-gamma belief for each (survey §2.5 and §4.7).

Arm a pays N(mu_a, 1 / lambda_a), lambda_a ~ Gamma(a, rate b) and mu_a | lambda_a ~ N(m, 1 / (kappa lambda_a)). The
algebra is that of reward_normal.py (Strens 2000, corrected), here for arms and for experiments in lockstep. The mean
reward has a marginal Student distribution: (mu - m) / sqrt(b / (a kappa)) has a t distribution with 2a degrees of
freedom.

Deviations: none. Cost: O(K) for an update, K Student draws for a sample. Claims: belief laws; moments, quantiles and
evidence against quadrature of prior times likelihood; equal to `RewardNormal` on the same rewards.
"""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, ClassVar

import numpy as np
from numpy.random import Generator
from scipy import special

from bayesrl.beliefs.arms._problems import usual
from bayesrl.beliefs.arms.arms import (
    add_at,
    arm_index,
    check_reward,
    check_shapes,
    fade_normal,
    fade_towards,
    read_log,
    sum_at,
    tile_replicates,
    unchecked,
)
from bayesrl.beliefs.arms.best_arm import DRAWS, best_arm_by_draws
from bayesrl.beliefs.log import Log
from bayesrl.beliefs.normal_gamma import NormalGamma, increments, scale_of_mean, variance_of_mean
from bayesrl.capabilities import BestArm
from bayesrl.checks import Floats, frozen, generator, integer, probability
from bayesrl.core import Transition
from bayesrl.parameters import DISCOUNT, Above, Shape, value
from bayesrl.registry import register

FIELDS = ("mean_", "strength", "shape", "rate")


def prior_for(problem: object) -> NormalGammaArm:
    """`weak` for the arms of a bandit."""
    own = usual("normal-gamma-arm", problem)
    return NormalGammaArm.weak(own.n_actions, own.gamma)


@register(
    "normal-gamma-arm",
    kind="belief",
    survey="2.5",
    paper="strens00",
    example=lambda: NormalGammaArm(*np.array([[0.0, 1.0, -0.5], [1.0, 0.5, 2.0], [3.0, 2.5, 4.0], [2.0, 1.0, 3.0]])),
    prior_for=prior_for,
    evidence=(
        "tests/beliefs/arms/test_arms.py::test_matches_quadrature",
        "tests/beliefs/test_laws.py::test_belief_laws",
        "tests/beliefs/arms/test_arms.py::test_normal_gamma_is_reward_normal",
    ),
)
@value
class NormalGammaArm:
    """Arms with Gaussian rewards of unknown mean and variance, with a normal-gamma belief for each.

    Examples
    --------
    >>> belief = NormalGammaArm.weak(2).update(Transition(0, action=1, reward=3.0, next_observation=0))
    >>> belief.mean(), belief.variance()
    (array([0. , 1.5]), array([1.        , 1.08333333]))
    """

    mean_: Annotated[Floats, Shape("(K,) or (replicates, K)"), "Posterior mean of each arm's mean reward, m."]
    strength: Annotated[Floats, Above(0.0), Shape("like mean_"), "Effective sample size of the mean, kappa."]
    shape: Annotated[Floats, Above(0.0), Shape("like mean_"), "Shape of the gamma belief about the precision, a."]
    rate: Annotated[Floats, Above(0.0), Shape("like mean_"), "Rate of the gamma belief about the precision, b."]
    gamma: Annotated[float, DISCOUNT, "Discount."] = 1.0
    prior_parameters: tuple[Floats, Floats, Floats, Floats] = field(init=False, repr=False, compare=False)
    """mean_, strength, shape and rate before any reward."""

    tells_information: ClassVar[bool] = False

    def __post_init__(self) -> None:
        own = {name: getattr(self, name) for name in FIELDS}
        check_shapes("NormalGammaArm", **own)
        object.__setattr__(self, "prior_parameters", tuple(own.values()))

    @classmethod
    def weak(cls, arms: int, gamma: float = 1.0) -> NormalGammaArm:
        """A prior with the weight of one observation, mean 0 and variance about 1 (kappa = 1, a = 2, b = 1)."""
        one = np.ones(integer("NormalGammaArm.weak", "arms", arms, 1))
        return cls(0.0 * one, one, 2.0 * one, one, gamma)

    def batch(self, replicates: int) -> NormalGammaArm:
        """The same belief for each of several replicates in lockstep."""
        own = tile_replicates(
            "NormalGammaArm.batch", replicates, *(getattr(self, name) for name in FIELDS), *self.prior_parameters
        )
        return unchecked(self, prior_parameters=tuple(own[4:]), **dict(zip(FIELDS, own[:4], strict=True)))

    # Learning --------------------------------------------------------------------------------------------------------

    def update(self, datum: Transition, rng: Generator | None = None) -> NormalGammaArm:
        """The posterior after a choice and its reward (or one of each for every replicate)."""
        where = arm_index("NormalGammaArm.update", self.mean_.shape, datum.action)
        x = check_reward("NormalGammaArm.update", self.mean_.shape, datum.reward)
        more = increments(self.strength.reshape(-1)[where], x - self.mean_.reshape(-1)[where])
        return unchecked(
            self,
            mean_=add_at(self.mean_, where, more.mean),
            strength=add_at(self.strength, where, more.strength),
            shape=add_at(self.shape, where, more.shape),
            rate=add_at(self.rate, where, more.rate),
        )

    def update_many(self, log: Log, rng: Generator | None = None) -> NormalGammaArm:
        """The posterior after a log of choices and rewards."""
        where, x = read_log("NormalGammaArm.update_many", self.mean_.shape, log)
        n = sum_at(self.mean_.shape, where, 1.0)
        average = sum_at(self.mean_.shape, where, x) / np.maximum(n, 1.0)
        within = sum_at(self.mean_.shape, where, (x - average.reshape(-1)[where]) ** 2)
        kappa, delta = self.strength + n, average - self.mean_
        return unchecked(
            self,
            mean_=frozen(self.mean_ + n / kappa * delta),
            strength=frozen(kappa),
            shape=frozen(self.shape + 0.5 * n),
            rate=frozen(self.rate + 0.5 * (within + self.strength * n / kappa * delta**2)),
        )

    # Capabilities ----------------------------------------------------------------------------------------------------

    @property
    def n_actions(self) -> int:
        """K."""
        return self.mean_.shape[-1]

    def sample_means(self, context: object, rng: Generator) -> Floats:
        """Mean rewards drawn from the belief."""
        return self.mean_ + self._scale() * generator("NormalGammaArm.sample_means", rng).standard_t(2.0 * self.shape)

    def mean(self, context: object = None) -> Floats:
        """Expected reward of each arm."""
        return self.mean_

    def variance(self, context: object = None) -> Floats:
        """Posterior variance of each arm's mean reward; infinite if the shape is at most 1."""
        return variance_of_mean(self._cells)

    def quantile(self, p: float, context: object = None) -> Floats:
        """The p-quantile of each arm's mean reward."""
        p = probability("NormalGammaArm.quantile", "p", p)
        t = special.stdtrit(2.0 * self.shape, p) if p > 0.0 else -np.inf  # scipy says inf at 0
        return self.mean_ + self._scale() * np.asarray(t, np.float64)

    def plays(self) -> Floats:
        """The number of plays of each arm, without prior pseudo-counts."""
        return self.strength - self.prior_parameters[1]

    def average(self) -> Floats:
        """The average reward of each arm; nan if the arm has not been played."""
        m, kappa = self.prior_parameters[:2]
        with np.errstate(invalid="ignore", divide="ignore"):
            return (self.strength * self.mean_ - kappa * m) / self.plays()

    def log_evidence(self) -> Floats:
        """Log density of the rewards given the choices under the prior, for each replicate."""
        (_, kappa, a, b), n = self.prior_parameters, self.plays()
        each = special.gammaln(self.shape) - special.gammaln(a) + a * np.log(b) - self.shape * np.log(self.rate)
        each += 0.5 * (np.log(kappa / self.strength) - n * np.log(2.0 * np.pi))
        return np.asarray(each.sum(axis=-1))

    def best_arm(self, context: object = None, samples: int = DRAWS, rng: Generator | None = None) -> BestArm:
        """The distribution of the best arm, estimated from draws."""
        return best_arm_by_draws(self, context, samples, rng, None)

    def fade(self, prior: NormalGammaArm, decay: float) -> NormalGammaArm:
        """kappa, kappa m, a and b + kappa m^2 / 2 fade towards those of the prior. The last one is read back as b."""
        kappa, m, squares = fade_normal(self.strength, self.mean_, prior.strength, prior.mean_, decay)
        rate = (1.0 - decay) * prior.rate + decay * self.rate + 0.5 * squares
        return unchecked(
            self, mean_=m, strength=kappa, shape=fade_towards(self.shape, prior.shape, decay), rate=frozen(rate)
        )

    def _scale(self) -> Floats:
        return scale_of_mean(self._cells)

    @property
    def _cells(self) -> NormalGamma:
        return NormalGamma(self.mean_, self.strength, self.shape, self.rate)
