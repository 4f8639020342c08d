"""Bernoulli arms with a Beta belief for each (survey §2.5 and chapter 3).

Arm a pays 1 with unknown probability theta_a ~ Beta(alpha_a, beta_a), else 0. A reward y adds y to alpha_a and 1 - y to
beta_a (the survey's l.626 misprints the second; ERRATA 1).

Deviations: none. Cost: update O(K), a copy; sample K Beta draws. Claims: belief laws; mean, variance, quantiles and
evidence against quadrature of prior times likelihood.
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
    "beta-bernoulli",
    kind="belief",
    survey="2.5",
    paper="Thompson33TS",
    example=lambda: BetaBernoulli(np.array([0.8, 1.5, 2.0]), np.array([1.3, 1.0, 0.7])),
    evidence=(
        "tests/beliefs/test_arms.py::test_matches_quadrature",
        "tests/beliefs/test_laws.py::test_belief_laws",
    ),
)
@value
class BetaBernoulli:
    """Arms that pay 1 or 0, with a Beta belief about each one's probability."""

    alpha: Floats
    """Prior count of ones plus those seen, shape (K,) or (replicates, K)."""
    beta: Floats
    """Prior count of zeros plus those seen, the same shape."""
    gamma: float = 1.0
    """Discount."""
    prior: tuple[Floats, Floats] = field(init=False, repr=False, compare=False)
    """alpha and beta before any reward."""

    def __post_init__(self) -> None:
        owner, set_ = "BetaBernoulli", object.__setattr__
        set_(self, "alpha", arms(owner, "alpha", self.alpha, positive=True))
        set_(self, "beta", arms(owner, "beta", self.beta, self.alpha.shape, positive=True))
        set_(self, "gamma", number(owner, "gamma", self.gamma, 0.0, 1.0))
        set_(self, "prior", (self.alpha, self.beta))

    @classmethod
    def uniform(cls, arms: int, gamma: float = 1.0) -> BetaBernoulli:
        """Every probability uniform on [0, 1]: Beta(1, 1).

        >>> BetaBernoulli.uniform(2).update(Transition(0, 1, 1.0, 0)).mean()
        array([0.5       , 0.66666667])
        """
        ones = np.ones(integer("BetaBernoulli.uniform", "arms", arms, 1))
        return cls(ones, ones, gamma)

    def batch(self, replicates: int) -> BetaBernoulli:
        """So many experiments side by side."""
        alpha, beta, *prior = tiled("BetaBernoulli.batch", replicates, self.alpha, self.beta, *self.prior)
        return unchecked(self, alpha=alpha, beta=beta, prior=tuple(prior))

    # Learning --------------------------------------------------------------------------------------------------------

    def update(self, datum: Transition, rng: Generator | None = None) -> BetaBernoulli:
        """The posterior after a choice and its reward (or one of each for every replicate)."""
        where = chosen("BetaBernoulli.update", self.alpha.shape, datum.action)
        y = paid("BetaBernoulli.update", self.alpha.shape, datum.reward)
        if self.alpha.ndim == 1 and y in (0.0, 1.0):
            name = "alpha" if y else "beta"
            return unchecked(self, **{name: raised(getattr(self, name), where, 1.0)})
        _binary(y)
        return unchecked(self, alpha=raised(self.alpha, where, y), beta=raised(self.beta, where, 1.0 - y))

    def update_many(self, log: Log) -> BetaBernoulli:
        """The posterior after a log of choices and rewards."""
        where, y = logged("BetaBernoulli.update_many", self.alpha.shape, log)
        _binary(y)
        wins, losses = (summed(self.alpha.shape, where, x) for x in (y, 1.0 - y))
        return unchecked(self, alpha=frozen(self.alpha + wins), beta=frozen(self.beta + losses))

    # What planners ask -----------------------------------------------------------------------------------------------

    n_actions = property(lambda self: self.alpha.shape[-1], doc="K.")

    def sample_means(self, context: object, rng: Generator) -> Floats:
        """Mean rewards drawn from the belief."""
        return rng.beta(self.alpha, self.beta)

    def mean(self, context: object = None) -> Floats:
        """Expected reward of each arm."""
        return self.alpha / (self.alpha + self.beta)

    def variance(self, context: object = None) -> Floats:
        """Posterior variance of each arm's mean reward."""
        n = self.alpha + self.beta
        return self.alpha * self.beta / (n * n * (n + 1.0))

    def quantile(self, p: float, context: object = None) -> Floats:
        """The p-quantile of each arm's mean reward."""
        return np.asarray(special.betaincinv(self.alpha, self.beta, p))

    def plays(self) -> Floats:
        """How often each arm has been played."""
        return (self.alpha - self.prior[0]) + (self.beta - self.prior[1])

    def average(self) -> Floats:
        """The average reward of each arm, nan where it has not been played."""
        with np.errstate(invalid="ignore"):
            return (self.alpha - self.prior[0]) / self.plays()

    def log_evidence(self) -> Floats:
        """log P(rewards | choices) under the prior, for each replicate."""
        each = special.betaln(self.alpha, self.beta) - special.betaln(*self.prior)
        return np.asarray(each.sum(axis=-1))


def _binary(y: Floats) -> None:
    bad = (y != 0.0) & (y != 1.0)
    if np.any(bad):
        raise ImpossibleEvidence("BetaBernoulli", f"reward {np.asarray(y)[bad].ravel()[0]:g}", "rewards are 0 or 1")
