"""Arms that pay counts, with a gamma belief about each rate (survey §2.5).

Arm a pays Poisson(lambda_a), and lambda_a ~ Gamma(shape, rate). A reward y adds y to the shape and 1 to the rate.

Deviations: none. Cost: update O(K), a copy; sample K gamma draws. Claims: belief laws; moments, quantiles and evidence
against quadrature of prior times likelihood.
"""

from __future__ import annotations

from dataclasses import field

import numpy as np
from numpy.random import Generator
from scipy import special

from bayesrl.beliefs._log import Log
from bayesrl.beliefs.arms._arms import arms, chosen, logged, paid, raised, summed, tiled, unchecked
from bayesrl.checks import Floats, frozen, integer, number
from bayesrl.core import Transition
from bayesrl.errors import ImpossibleEvidence
from bayesrl.parameters import value
from bayesrl.registry import register


@register(
    "poisson-arm",
    kind="belief",
    survey="2.5",
    example=lambda: PoissonArm(np.array([0.8, 1.5, 4.0]), np.array([1.3, 0.5, 2.0])),
    evidence=(
        "tests/beliefs/test_arms.py::test_matches_quadrature",
        "tests/beliefs/test_laws.py::test_belief_laws",
    ),
)
@value
class PoissonArm:
    """Arms that pay 0, 1, 2, ... with a gamma belief about each one's rate."""

    shape: Floats
    """Shape of the gamma belief, shape (K,) or (replicates, K)."""
    rate: Floats
    """Rate of the gamma belief, the same shape."""
    gamma: float = 1.0
    """Discount."""
    factorials: Floats = field(init=False, repr=False)
    """Sum of log y! over the rewards seen: what the evidence needs beside the moments."""
    prior: tuple[Floats, Floats] = field(init=False, repr=False, compare=False)
    """shape and rate before any reward."""

    def __post_init__(self) -> None:
        owner, set_ = "PoissonArm", object.__setattr__
        set_(self, "shape", arms(owner, "shape", self.shape, positive=True))
        set_(self, "rate", arms(owner, "rate", self.rate, self.shape.shape, positive=True))
        set_(self, "gamma", number(owner, "gamma", self.gamma, 0.0, 1.0))
        set_(self, "factorials", frozen(np.zeros(self.shape.shape)))
        set_(self, "prior", (self.shape, self.rate))

    @classmethod
    def exponential(cls, arms: int, gamma: float = 1.0) -> PoissonArm:
        """Every rate exponential with mean 1: Gamma(1, 1)."""
        ones = np.ones(integer("PoissonArm.exponential", "arms", arms, 1))
        return cls(ones, ones, gamma)

    def batch(self, replicates: int) -> PoissonArm:
        """So many experiments side by side."""
        own = (self.shape, self.rate, self.factorials, *self.prior)
        shape, rate, factorials, *prior = tiled("PoissonArm.batch", replicates, *own)
        return unchecked(self, shape=shape, rate=rate, factorials=factorials, prior=tuple(prior))

    # Learning --------------------------------------------------------------------------------------------------------

    def update(self, datum: Transition, rng: Generator | None = None) -> PoissonArm:
        """The posterior after a choice and its reward (or one of each for every replicate)."""
        where = chosen("PoissonArm.update", self.shape.shape, datum.action)
        y = paid("PoissonArm.update", self.shape.shape, datum.reward)
        _count(y)
        return unchecked(
            self,
            shape=raised(self.shape, where, y),
            rate=raised(self.rate, where, 1.0),
            factorials=raised(self.factorials, where, special.gammaln(y + 1.0)),
        )

    def update_many(self, log: Log) -> PoissonArm:
        """The posterior after a log of choices and rewards."""
        where, y = logged("PoissonArm.update_many", self.shape.shape, log)
        _count(y)
        total, n, factorials = (summed(self.shape.shape, where, x) for x in (y, 1.0, special.gammaln(y + 1.0)))
        return unchecked(
            self,
            shape=frozen(self.shape + total),
            rate=frozen(self.rate + n),
            factorials=frozen(self.factorials + factorials),
        )

    # What planners ask -----------------------------------------------------------------------------------------------

    n_actions = property(lambda self: self.shape.shape[-1], doc="K.")

    def sample_means(self, context: object, rng: Generator) -> Floats:
        """Mean rewards drawn from the belief."""
        return rng.standard_gamma(self.shape) / self.rate

    def mean(self, context: object = None) -> Floats:
        """Expected reward of each arm."""
        return self.shape / self.rate

    def variance(self, context: object = None) -> Floats:
        """Posterior variance of each arm's mean reward."""
        return self.shape / self.rate**2

    def quantile(self, p: float, context: object = None) -> Floats:
        """The p-quantile of each arm's mean reward."""
        return np.asarray(special.gammaincinv(self.shape, p)) / self.rate

    def plays(self) -> Floats:
        """How often each arm has been played."""
        return self.rate - self.prior[1]

    def average(self) -> Floats:
        """The average reward of each arm, nan where it has not been played."""
        with np.errstate(invalid="ignore"):
            return (self.shape - self.prior[0]) / self.plays()

    def log_evidence(self) -> Floats:
        """log P(rewards | choices) under the prior, for each replicate."""
        a, b = self.prior
        each = special.gammaln(self.shape) - special.gammaln(a) + a * np.log(b) - self.shape * np.log(self.rate)
        return np.asarray((each - self.factorials).sum(axis=-1))


def _count(y: Floats) -> None:
    bad = (y < 0.0) | (y != np.floor(y))
    if np.any(bad):
        raise ImpossibleEvidence("PoissonArm", f"reward {np.asarray(y)[bad].ravel()[0]:g}", "rewards are 0, 1, 2, ...")
