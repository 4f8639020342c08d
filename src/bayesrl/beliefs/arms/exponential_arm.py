"""Arms that pay exponential amounts (waiting times, sizes), with a gamma belief about each rate (survey §2.5).

Arm a pays an exponential amount of mean 1 / lambda_a, and lambda_a ~ Gamma(shape, rate). A reward x adds 1 to the shape
and x to the rate. The mean reward 1 / lambda_a is inverse gamma.

Deviations: none. Cost: O(K) for an update, K gamma draws for a sample. Claims: belief laws; moments, quantiles and
evidence against quadrature of prior times likelihood.
"""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, ClassVar

import numpy as np
from numpy.random import Generator
from scipy import special

from bayesrl.beliefs.arms._problems import pays_amounts
from bayesrl.beliefs.arms.arms import (
    add_at,
    arm_index,
    check_reward,
    check_shapes,
    fade_towards,
    read_log,
    sum_at,
    tile_replicates,
    unchecked,
)
from bayesrl.beliefs.arms.best_arm import DRAWS, best_arm_by_draws
from bayesrl.beliefs.log import Log
from bayesrl.capabilities import BestArm
from bayesrl.checks import Floats, frozen, generator, integer, probability
from bayesrl.core import Transition
from bayesrl.errors import ImpossibleEvidence
from bayesrl.parameters import DISCOUNT, Above, Shape, value
from bayesrl.registry import register


def prior_for(problem: object) -> ExponentialArm:
    """`weak` for the arms of a bandit."""
    own = pays_amounts("exponential-arm", problem)
    return ExponentialArm.weak(own.n_actions, own.gamma)


@register(
    "exponential-arm",
    kind="belief",
    survey="2.5",
    example=lambda: ExponentialArm(np.array([3.0, 2.5, 4.0]), np.array([1.3, 0.5, 2.0])),
    prior_for=prior_for,
    evidence=(
        "tests/beliefs/arms/test_arms.py::test_matches_quadrature",
        "tests/beliefs/test_laws.py::test_belief_laws",
    ),
)
@value
class ExponentialArm:
    """Arms that pay exponential amounts, with a gamma belief about each one's rate.

    Examples
    --------
    >>> belief = ExponentialArm.weak(2).update(Transition(0, action=1, reward=4.0, next_observation=0))
    >>> belief.mean()
    array([1., 2.])
    """

    shape: Annotated[
        Floats, Above(0.0), Shape("(K,) or (replicates, K)"), "Shape of the gamma belief about the rate 1 / mean."
    ]
    rate: Annotated[Floats, Above(0.0), Shape("(K,) or (replicates, K)"), "Rate of that gamma belief."]
    gamma: Annotated[float, DISCOUNT, "Discount."] = 1.0
    prior_parameters: tuple[Floats, Floats] = field(init=False, repr=False, compare=False)
    """shape and rate before any reward."""

    tells_information: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_shapes("ExponentialArm", shape=self.shape, rate=self.rate)
        object.__setattr__(self, "prior_parameters", (self.shape, self.rate))

    @classmethod
    def weak(cls, arms: int, gamma: float = 1.0) -> ExponentialArm:
        """Every mean 1 on average, with finite variance: shape 3, rate 2."""
        ones = np.ones(integer("ExponentialArm.weak", "arms", arms, 1))
        return cls(3.0 * ones, 2.0 * ones, gamma)

    def batch(self, replicates: int) -> ExponentialArm:
        """The same belief for each of several replicates in lockstep."""
        shape, rate, *prior = tile_replicates(
            "ExponentialArm.batch", replicates, self.shape, self.rate, *self.prior_parameters
        )
        return unchecked(self, shape=shape, rate=rate, prior_parameters=tuple(prior))

    # Learning --------------------------------------------------------------------------------------------------------

    def update(self, datum: Transition, rng: Generator | None = None) -> ExponentialArm:
        """The posterior after a choice and its reward (or one of each for every replicate)."""
        where = arm_index("ExponentialArm.update", self.shape.shape, datum.action)
        x = check_reward("ExponentialArm.update", self.shape.shape, datum.reward)
        _amount(x)
        return unchecked(self, shape=add_at(self.shape, where, 1.0), rate=add_at(self.rate, where, x))

    def update_many(self, log: Log, rng: Generator | None = None) -> ExponentialArm:
        """The posterior after a log of choices and rewards."""
        where, x = read_log("ExponentialArm.update_many", self.shape.shape, log)
        _amount(x)
        n, total = (sum_at(self.shape.shape, where, y) for y in (1.0, x))
        return unchecked(self, shape=frozen(self.shape + n), rate=frozen(self.rate + total))

    # Capabilities ----------------------------------------------------------------------------------------------------

    @property
    def n_actions(self) -> int:
        """K."""
        return self.shape.shape[-1]

    def sample_means(self, context: object, rng: Generator) -> Floats:
        """Mean rewards drawn from the belief."""
        return self.rate / generator("ExponentialArm.sample_means", rng).standard_gamma(self.shape)

    def mean(self, context: object = None) -> Floats:
        """Expected reward of each arm; infinite if the shape is at most 1."""
        with np.errstate(divide="ignore"):
            return self.rate / np.maximum(self.shape - 1.0, 0.0)

    def variance(self, context: object = None) -> Floats:
        """Posterior variance of each arm's mean reward; infinite if the shape is at most 2."""
        with np.errstate(divide="ignore"):
            return np.asarray(self.mean() ** 2 / np.maximum(self.shape - 2.0, 0.0))

    def quantile(self, p: float, context: object = None) -> Floats:
        """The p-quantile of each arm's mean reward."""
        p = probability("ExponentialArm.quantile", "p", p)
        with np.errstate(divide="ignore"):
            return self.rate / np.asarray(special.gammainccinv(self.shape, p), np.float64)

    def plays(self) -> Floats:
        """The number of plays of each arm, without prior pseudo-counts."""
        return self.shape - self.prior_parameters[0]

    def average(self) -> Floats:
        """The average reward of each arm; nan if the arm has not been played."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return (self.rate - self.prior_parameters[1]) / self.plays()

    def log_evidence(self) -> Floats:
        """Log density of the rewards given the choices under the prior, for each replicate."""
        a, b = self.prior_parameters
        each = special.gammaln(self.shape) - special.gammaln(a) + a * np.log(b) - self.shape * np.log(self.rate)
        return np.asarray(each.sum(axis=-1))

    def best_arm(self, context: object = None, samples: int = DRAWS, rng: Generator | None = None) -> BestArm:
        """The distribution of the best arm, estimated from draws."""
        return best_arm_by_draws(self, context, samples, rng, None)

    def fade(self, prior: ExponentialArm, decay: float) -> ExponentialArm:
        """Shapes and rates that fade towards those of the prior."""
        return unchecked(
            self, shape=fade_towards(self.shape, prior.shape, decay), rate=fade_towards(self.rate, prior.rate, decay)
        )


def _amount(x: Floats) -> None:
    bad = np.asarray(x) < 0.0
    if bad.any():
        raise ImpossibleEvidence(
            "ExponentialArm", f"reward {np.asarray(x)[bad].ravel()[0]:g}", "rewards are not negative"
        )
