"""Arms that pay counts, with a gamma belief about each rate (survey §2.5).

Arm a pays Poisson(lambda_a), and lambda_a ~ Gamma(shape, rate). A reward y adds y to the shape and 1 to the rate.

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


def prior_for(problem: object) -> PoissonArm:
    """`exponential` for the arms of a bandit."""
    own = pays_amounts("poisson-arm", problem)
    return PoissonArm.exponential(own.n_actions, own.gamma)


@register(
    "poisson-arm",
    kind="belief",
    survey="2.5",
    example=lambda: PoissonArm(np.array([0.8, 1.5, 4.0]), np.array([1.3, 0.5, 2.0])),
    prior_for=prior_for,
    evidence=(
        "tests/beliefs/arms/test_arms.py::test_matches_quadrature",
        "tests/beliefs/test_laws.py::test_belief_laws",
    ),
)
@value
class PoissonArm:
    """Arms that pay 0, 1, 2, ... with a gamma belief about each one's rate.

    Examples
    --------
    >>> belief = PoissonArm.exponential(2).update(Transition(0, action=1, reward=4.0, next_observation=0))
    >>> belief.mean()
    array([1. , 2.5])
    """

    shape: Annotated[Floats, Above(0.0), Shape("(K,) or (replicates, K)"), "Shape of the gamma belief."]
    rate: Annotated[Floats, Above(0.0), Shape("(K,) or (replicates, K)"), "Rate of the gamma belief."]
    gamma: Annotated[float, DISCOUNT, "Discount."] = 1.0
    factorials: Floats = field(init=False, repr=False)
    """Sum of log y! over the rewards seen, which the evidence needs."""
    prior_parameters: tuple[Floats, Floats] = field(init=False, repr=False, compare=False)
    """shape and rate before any reward."""

    tells_information: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_shapes("PoissonArm", shape=self.shape, rate=self.rate)
        object.__setattr__(self, "factorials", frozen(np.zeros(self.shape.shape)))
        object.__setattr__(self, "prior_parameters", (self.shape, self.rate))

    @classmethod
    def exponential(cls, arms: int, gamma: float = 1.0) -> PoissonArm:
        """Every rate exponential with mean 1: Gamma(1, 1)."""
        ones = np.ones(integer("PoissonArm.exponential", "arms", arms, 1))
        return cls(ones, ones, gamma)

    def batch(self, replicates: int) -> PoissonArm:
        """The same belief for each of several replicates in lockstep."""
        own = (self.shape, self.rate, self.factorials, *self.prior_parameters)
        shape, rate, factorials, *prior = tile_replicates("PoissonArm.batch", replicates, *own)
        return unchecked(self, shape=shape, rate=rate, factorials=factorials, prior_parameters=tuple(prior))

    # Learning --------------------------------------------------------------------------------------------------------

    def update(self, datum: Transition, rng: Generator | None = None) -> PoissonArm:
        """The posterior after a choice and its reward (or one of each for every replicate)."""
        where = arm_index("PoissonArm.update", self.shape.shape, datum.action)
        y = check_reward("PoissonArm.update", self.shape.shape, datum.reward)
        _count(y)
        return unchecked(
            self,
            shape=add_at(self.shape, where, y),
            rate=add_at(self.rate, where, 1.0),
            factorials=add_at(self.factorials, where, special.gammaln(y + 1.0)),
        )

    def update_many(self, log: Log, rng: Generator | None = None) -> PoissonArm:
        """The posterior after a log of choices and rewards."""
        where, y = read_log("PoissonArm.update_many", self.shape.shape, log)
        _count(y)
        total, n, factorials = (sum_at(self.shape.shape, where, x) for x in (y, 1.0, special.gammaln(y + 1.0)))
        return unchecked(
            self,
            shape=frozen(self.shape + total),
            rate=frozen(self.rate + n),
            factorials=frozen(self.factorials + factorials),
        )

    # Capabilities ----------------------------------------------------------------------------------------------------

    @property
    def n_actions(self) -> int:
        """K."""
        return self.shape.shape[-1]

    def sample_means(self, context: object, rng: Generator) -> Floats:
        """Mean rewards drawn from the belief."""
        return generator("PoissonArm.sample_means", rng).standard_gamma(self.shape) / self.rate

    def mean(self, context: object = None) -> Floats:
        """Expected reward of each arm."""
        return self.shape / self.rate

    def variance(self, context: object = None) -> Floats:
        """Posterior variance of each arm's mean reward."""
        return self.shape / self.rate**2

    def quantile(self, p: float, context: object = None) -> Floats:
        """The p-quantile of each arm's mean reward."""
        p = probability("PoissonArm.quantile", "p", p)
        return np.asarray(special.gammaincinv(self.shape, p)) / self.rate

    def plays(self) -> Floats:
        """The number of plays of each arm, without prior pseudo-counts."""
        return self.rate - self.prior_parameters[1]

    def average(self) -> Floats:
        """The average reward of each arm; nan if the arm has not been played."""
        with np.errstate(invalid="ignore"):
            return (self.shape - self.prior_parameters[0]) / self.plays()

    def log_evidence(self) -> Floats:
        """log P(rewards | choices) under the prior, for each replicate."""
        a, b = self.prior_parameters
        each = special.gammaln(self.shape) - special.gammaln(a) + a * np.log(b) - self.shape * np.log(self.rate)
        return np.asarray((each - self.factorials).sum(axis=-1))

    def best_arm(self, context: object = None, samples: int = DRAWS, rng: Generator | None = None) -> BestArm:
        """The distribution of the best arm, estimated from draws."""
        return best_arm_by_draws(self, context, samples, rng, None)

    def fade(self, prior: PoissonArm, decay: float) -> PoissonArm:
        """Shapes and rates that fade towards those of the prior."""
        return unchecked(
            self,
            shape=fade_towards(self.shape, prior.shape, decay),
            rate=fade_towards(self.rate, prior.rate, decay),
            factorials=fade_towards(self.factorials, prior.factorials, decay),
        )


def _count(y: Floats) -> None:
    bad = (y < 0.0) | (y != np.floor(y))
    if np.any(bad):
        raise ImpossibleEvidence("PoissonArm", f"reward {np.asarray(y)[bad].ravel()[0]:g}", "rewards are 0, 1, 2, ...")
