"""Gaussian arms of known variance, with a Gaussian belief about each mean (survey §2.5).

Arm a pays N(mu_a, sigma^2) with sigma known, and mu_a ~ N(m_a, sigma^2 / kappa_a): the prior has the
weight of kappa_a observations. A reward x gives kappa' = kappa + 1 and m' = m + (x - m) / kappa'.

Deviations: none. Cost: O(K) for an update, K Gaussian draws for a sample. Claims: belief laws; moments, quantiles and
evidence against quadrature of prior times likelihood. Unknown variance: normal_gamma_arm.py.
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
    read_log,
    sum_at,
    tile_replicates,
    unchecked,
)
from bayesrl.beliefs.arms.best_arm import DRAWS, best_arm_of_normals
from bayesrl.beliefs.log import Log
from bayesrl.capabilities import ArmStates, BestArm
from bayesrl.checks import Floats, frozen, generator, integer, probability
from bayesrl.core import Transition
from bayesrl.parameters import DISCOUNT, Above, Shape, value
from bayesrl.registry import register


def prior_for(problem: object) -> NormalArm:
    """`standard` for the arms of a bandit."""
    own = usual("normal-arm", problem)
    return NormalArm.standard(own.n_actions, own.gamma)


@register(
    "normal-arm",
    kind="belief",
    survey="2.5",
    example=lambda: NormalArm(np.array([0.0, 1.0, -0.5]), np.array([1.0, 0.5, 2.0]), noise=0.7),
    prior_for=prior_for,
    evidence=(
        "tests/beliefs/arms/test_arms.py::test_matches_quadrature",
        "tests/beliefs/test_laws.py::test_belief_laws",
    ),
)
@value
class NormalArm:
    """Arms with Gaussian rewards of known variance, with a Gaussian belief about each mean.

    Examples
    --------
    >>> belief = NormalArm.standard(2).update(Transition(0, action=1, reward=3.0, next_observation=0))
    >>> belief.mean(), belief.variance()
    (array([0. , 1.5]), array([1. , 0.5]))
    """

    mean_: Annotated[Floats, Shape("(K,) or (replicates, K)"), "Posterior mean of each arm's mean reward, m."]
    strength: Annotated[
        Floats,
        Above(0.0),
        Shape("(K,) or (replicates, K)"),
        "Effective sample size, kappa. The variance of the mean is noise^2 / strength.",
    ]
    noise: Annotated[float, Above(0.0), "Standard deviation of a reward, sigma."] = 1.0
    gamma: Annotated[float, DISCOUNT, "Discount."] = 1.0
    spread: Floats = field(init=False, repr=False)
    """Sum of kappa / (kappa + 1) (x - m)^2 over the rewards seen, which the evidence needs."""
    prior_parameters: tuple[Floats, Floats] = field(init=False, repr=False, compare=False)
    """mean_ and strength before any reward."""

    tells_information: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_shapes("NormalArm", mean_=self.mean_, strength=self.strength)
        object.__setattr__(self, "spread", frozen(np.zeros(self.mean_.shape)))
        object.__setattr__(self, "prior_parameters", (self.mean_, self.strength))

    @classmethod
    def standard(cls, arms: int, gamma: float = 1.0) -> NormalArm:
        """Means and noise standard normal.

        >>> NormalArm.standard(2).update(Transition(0, 1, 3.0, 0)).mean()
        array([0. , 1.5])
        """
        n = integer("NormalArm.standard", "arms", arms, 1)
        return cls(np.zeros(n), np.ones(n), 1.0, gamma)

    def batch(self, replicates: int) -> NormalArm:
        """The same belief for each of several replicates in lockstep."""
        own = (self.mean_, self.strength, self.spread, *self.prior_parameters)
        mean, strength, spread, *prior = tile_replicates("NormalArm.batch", replicates, *own)
        return unchecked(self, mean_=mean, strength=strength, spread=spread, prior_parameters=tuple(prior))

    # Learning --------------------------------------------------------------------------------------------------------

    def update(self, datum: Transition, rng: Generator | None = None) -> NormalArm:
        """The posterior after a choice and its reward (or one of each for every replicate)."""
        where = arm_index("NormalArm.update", self.mean_.shape, datum.action)
        x = check_reward("NormalArm.update", self.mean_.shape, datum.reward)
        kappa, delta = self.strength.reshape(-1)[where], x - self.mean_.reshape(-1)[where]
        step = delta / (kappa + 1.0)
        return unchecked(
            self,
            mean_=add_at(self.mean_, where, step),
            strength=add_at(self.strength, where, 1.0),
            spread=add_at(self.spread, where, kappa * delta * step),
        )

    def update_many(self, log: Log, rng: Generator | None = None) -> NormalArm:
        """The posterior after a log of choices and rewards."""
        where, x = read_log("NormalArm.update_many", self.mean_.shape, log)
        n = sum_at(self.mean_.shape, where, 1.0)
        average = sum_at(self.mean_.shape, where, x) / np.maximum(n, 1.0)
        within = sum_at(self.mean_.shape, where, (x - average.reshape(-1)[where]) ** 2)
        kappa, delta = self.strength + n, average - self.mean_
        return unchecked(
            self,
            mean_=frozen(self.mean_ + n / kappa * delta),
            strength=frozen(kappa),
            spread=frozen(self.spread + within + self.strength * n / kappa * delta**2),
        )

    # Capabilities ----------------------------------------------------------------------------------------------------

    @property
    def n_actions(self) -> int:
        """K."""
        return self.mean_.shape[-1]

    def sample_means(self, context: object, rng: Generator) -> Floats:
        """Mean rewards drawn from the belief."""
        z = generator("NormalArm.sample_means", rng).standard_normal(self.mean_.shape)
        return self.mean_ + self._deviation() * z

    def mean(self, context: object = None) -> Floats:
        """Expected reward of each arm."""
        return self.mean_

    def variance(self, context: object = None) -> Floats:
        """Posterior variance of each arm's mean reward."""
        return self.noise**2 / self.strength

    def quantile(self, p: float, context: object = None) -> Floats:
        """The p-quantile of each arm's mean reward."""
        p = probability("NormalArm.quantile", "p", p)
        return self.mean_ + self._deviation() * float(special.ndtri(p))

    def plays(self) -> Floats:
        """The number of plays of each arm, without prior pseudo-counts."""
        return self.strength - self.prior_parameters[1]

    def average(self) -> Floats:
        """The average reward of each arm; nan if the arm has not been played."""
        m, kappa = self.prior_parameters
        with np.errstate(invalid="ignore", divide="ignore"):
            return (self.strength * self.mean_ - kappa * m) / self.plays()

    def log_evidence(self) -> Floats:
        """Log density of the rewards given the choices under the prior, for each replicate."""
        n, variance = self.plays(), self.noise**2
        each = (
            np.log(self.prior_parameters[1] / self.strength)
            - self.spread / variance
            - n * np.log(2.0 * np.pi * variance)
        )
        return np.asarray(0.5 * each.sum(axis=-1))

    def best_arm(self, context: object = None, samples: int = DRAWS, rng: Generator | None = None) -> BestArm:
        """The distribution of the best arm, by numerical integration."""
        return best_arm_of_normals(self.mean_, np.sqrt(self.variance()), self.noise)

    def reward_deviation(self) -> float:
        """The largest standard deviation of a predicted reward, which further rewards do not increase."""
        return float(np.sqrt(np.max(self.variance()) + self.noise**2))

    def arm_states(self) -> ArmStates:
        """The state of each arm: n of a belief N(0, 1/n) about an arm of unit noise."""
        return ArmStates("normal", self.strength[..., None], self.mean_, self.noise)

    def fade(self, prior: NormalArm, decay: float) -> NormalArm:
        """kappa and kappa m fade towards those of the prior. The spread follows the same weights."""
        kappa, m, squares = fade_normal(self.strength, self.mean_, prior.strength, prior.mean_, decay)
        return unchecked(self, mean_=m, strength=kappa, spread=frozen(decay * self.spread + squares))

    def _deviation(self) -> Floats:
        return self.noise / np.sqrt(self.strength)
