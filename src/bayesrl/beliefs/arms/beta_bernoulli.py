"""Bernoulli arms with a Beta belief for each (survey §2.5 and chapter 3).

Arm a pays 1 with unknown probability theta_a ~ Beta(alpha_a, beta_a), else 0. A reward y adds y to alpha_a and 1 - y to
beta_a (the survey's l.626 misprints the second; ERRATA 1).

Deviations: none. Cost: O(K) for an update, K Beta draws for a sample. Claims: belief laws; mean, variance, quantiles
and evidence against quadrature of prior times likelihood.
"""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, ClassVar

import numpy as np
from numpy.random import Generator
from scipy import special

from bayesrl.beliefs.arms._problems import pays_ones
from bayesrl.beliefs.arms.arms import (
    add_at,
    arm_index,
    check_binary,
    check_reward,
    check_shapes,
    distinct_rows,
    fade_towards,
    read_log,
    sum_at,
    tile_replicates,
    unchecked,
)
from bayesrl.beliefs.arms.best_arm import DRAWS, best_arm_of_betas, best_arm_of_priced_betas
from bayesrl.beliefs.log import Log
from bayesrl.capabilities import ArmPosteriors, ArmStates, BestArm
from bayesrl.checks import Floats, Ints, frozen, generator, integer, probability
from bayesrl.core import Transition
from bayesrl.errors import InvalidArgument
from bayesrl.kernels.best_arm import best_beta, best_priced_beta
from bayesrl.parameters import DISCOUNT, Above, Shape, value
from bayesrl.registry import register


def prior_for(
    problem: object, count: Annotated[float, Above(0.0), "Prior count of ones, and of zeros."] = 1.0
) -> BetaBernoulli:
    """The same beta distribution for every arm of a bandit that pays 1 or 0."""
    own = pays_ones("beta-bernoulli", problem)
    counts = np.full(own.n_actions, count)
    return BetaBernoulli(counts, counts, own.gamma)


@register(
    "beta-bernoulli",
    kind="belief",
    survey="2.5",
    paper="Thompson33TS",
    example=lambda: BetaBernoulli(np.array([0.8, 1.5, 2.0]), np.array([1.3, 1.0, 0.7])),
    prior_for=prior_for,
    evidence=(
        "tests/beliefs/arms/test_arms.py::test_matches_quadrature",
        "tests/beliefs/test_laws.py::test_belief_laws",
    ),
)
@value
class BetaBernoulli:
    """Arms that pay 1 or 0, with a Beta belief about each one's probability.

    Examples
    --------
    >>> belief = BetaBernoulli.uniform(2).update(Transition(0, action=1, reward=1.0, next_observation=0))
    >>> belief.alpha, belief.beta
    (array([1., 2.]), array([1., 1.]))
    >>> belief.quantile(0.95).round(3)
    array([0.95 , 0.975])
    """

    alpha: Annotated[Floats, Above(0.0), Shape("(K,) or (replicates, K)"), "Prior count of ones plus those seen."]
    beta: Annotated[Floats, Above(0.0), Shape("(K,) or (replicates, K)"), "Prior count of zeros plus those seen."]
    gamma: Annotated[float, DISCOUNT, "Discount."] = 1.0
    prior_parameters: tuple[Floats, Floats] = field(init=False, repr=False, compare=False)
    """alpha and beta before any reward."""

    tells_information: ClassVar[bool] = True
    pays_ones: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_shapes("BetaBernoulli", alpha=self.alpha, beta=self.beta)
        object.__setattr__(self, "prior_parameters", (self.alpha, self.beta))

    @classmethod
    def uniform(cls, arms: int, gamma: float = 1.0) -> BetaBernoulli:
        """Every probability uniform on [0, 1]: Beta(1, 1).

        >>> BetaBernoulli.uniform(2).update(Transition(0, 1, 1.0, 0)).mean()
        array([0.5       , 0.66666667])
        """
        ones = np.ones(integer("BetaBernoulli.uniform", "arms", arms, 1))
        return cls(ones, ones, gamma)

    def batch(self, replicates: int) -> BetaBernoulli:
        """The same belief for each of several replicates in lockstep."""
        alpha, beta, *prior = tile_replicates(
            "BetaBernoulli.batch", replicates, self.alpha, self.beta, *self.prior_parameters
        )
        return unchecked(self, alpha=alpha, beta=beta, prior_parameters=tuple(prior))

    # Learning --------------------------------------------------------------------------------------------------------

    def update(self, datum: Transition, rng: Generator | None = None) -> BetaBernoulli:
        """The posterior after a choice and its reward (or one of each for every replicate)."""
        where = arm_index("BetaBernoulli.update", self.alpha.shape, datum.action)
        y = check_reward("BetaBernoulli.update", self.alpha.shape, datum.reward)
        if self.alpha.ndim == 1 and y in (0.0, 1.0):
            name = "alpha" if y else "beta"
            return unchecked(self, **{name: add_at(getattr(self, name), where, 1.0)})
        check_binary("BetaBernoulli", y)
        return unchecked(self, alpha=add_at(self.alpha, where, y), beta=add_at(self.beta, where, 1.0 - y))

    def update_many(self, log: Log, rng: Generator | None = None) -> BetaBernoulli:
        """The posterior after a log of choices and rewards."""
        where, y = read_log("BetaBernoulli.update_many", self.alpha.shape, log)
        check_binary("BetaBernoulli", y)
        wins, losses = (sum_at(self.alpha.shape, where, x) for x in (y, 1.0 - y))
        return unchecked(self, alpha=frozen(self.alpha + wins), beta=frozen(self.beta + losses))

    # Capabilities ----------------------------------------------------------------------------------------------------

    @property
    def n_actions(self) -> int:
        """K."""
        return self.alpha.shape[-1]

    def sample_means(self, context: object, rng: Generator) -> Floats:
        """Mean rewards drawn from the belief."""
        return generator("BetaBernoulli.sample_means", rng).beta(self.alpha, self.beta)

    def mean(self, context: object = None) -> Floats:
        """Expected reward of each arm."""
        return self.alpha / (self.alpha + self.beta)

    def variance(self, context: object = None) -> Floats:
        """Posterior variance of each arm's mean reward."""
        n = self.alpha + self.beta
        return self.alpha * self.beta / (n * n * (n + 1.0))

    def quantile(self, p: float, context: object = None) -> Floats:
        """The p-quantile of each arm's mean reward."""
        p = probability("BetaBernoulli.quantile", "p", p)
        return np.asarray(special.betaincinv(self.alpha, self.beta, p))

    def plays(self) -> Floats:
        """The number of plays of each arm, without prior pseudo-counts."""
        return (self.alpha - self.prior_parameters[0]) + (self.beta - self.prior_parameters[1])

    def average(self) -> Floats:
        """The average reward of each arm; nan if the arm has not been played."""
        with np.errstate(invalid="ignore"):
            return (self.alpha - self.prior_parameters[0]) / self.plays()

    def log_evidence(self) -> Floats:
        """log P(rewards | choices) under the prior, for each replicate."""
        each = special.betaln(self.alpha, self.beta) - special.betaln(*self.prior_parameters)
        return np.asarray(each.sum(axis=-1))

    def best_arm(self, context: object = None, samples: int = DRAWS, rng: Generator | None = None) -> BestArm:
        """The distribution of the best arm, by numerical integration."""
        return best_arm_of_betas(self.alpha, self.beta, self.mean())

    def best_arm_at(self, prices: Floats) -> BestArm:
        """The distribution of the arm of largest mean times price, by numerical integration."""
        return best_arm_of_priced_betas(self.alpha, self.beta, prices)

    def reward_deviation(self) -> float:
        """A reward in [0, 1] is sub-Gaussian with deviation 1/2."""
        return 0.5

    @property
    def is_uniform(self) -> bool:
        """Whether every probability is uniform on [0, 1]."""
        return bool(np.all(self.alpha == 1.0) and np.all(self.beta == 1.0))

    def fade(self, prior: BetaBernoulli, decay: float) -> BetaBernoulli:
        """Counts that fade towards those of the prior."""
        return unchecked(
            self, alpha=fade_towards(self.alpha, prior.alpha, decay), beta=fade_towards(self.beta, prior.beta, decay)
        )

    # For look-ahead planners -----------------------------------------------------------------------------------------

    def arm_states(self) -> ArmStates:
        """The state of each arm: (alpha, beta)."""
        return ArmStates("bernoulli", np.stack([self.alpha, self.beta], axis=-1), 0.0, 1.0)

    @property
    def posterior_size(self) -> int:
        """Replicates."""
        return self.alpha.size // self.n_actions

    def reward_values(self) -> Floats:
        """An arm pays 0 or 1."""
        return np.array([0.0, 1.0])

    def posteriors_after(self, seen: Ints) -> ArmPosteriors:
        """The posteriors after seen[n, a, y] further rewards y of arm a, (N, K, 2)."""
        alpha, beta = self.alpha[..., None, :] + seen[..., 1], self.beta[..., None, :] + seen[..., 0]
        p = alpha / (alpha + beta)

        def best() -> Floats:
            return best_beta(alpha, beta)[0]

        return ArmPosteriors(np.stack([1.0 - p, p], axis=-1), best, best)

    def posteriors_at(self, prices: Floats, seen: Ints) -> ArmPosteriors:
        """The same posteriors if a one of arm a is worth prices[a]."""
        alpha, beta = self.alpha[..., None, :] + seen[..., 1], self.beta[..., None, :] + seen[..., 0]
        p = alpha / (alpha + beta)

        def best() -> Floats:
            return best_priced_beta(alpha, beta, prices)[0]

        return ArmPosteriors(np.stack([1.0 - p, p], axis=-1), best, best)

    def distinct_replicates(self) -> tuple[BetaBernoulli, Ints]:
        """The distinct replicates, and for each replicate which of them it is equal to."""
        self._check_lockstep("BetaBernoulli.distinct_replicates")
        rows, which = distinct_rows(np.concatenate([self.alpha, self.beta], axis=1))
        K = self.n_actions
        return BetaBernoulli(rows[:, :K], rows[:, K:], self.gamma), which

    def some_replicates(self, part: slice) -> BetaBernoulli:
        """Only these replicates."""
        self._check_lockstep("BetaBernoulli.some_replicates")
        return BetaBernoulli(self.alpha[part], self.beta[part], self.gamma)

    def _check_lockstep(self, owner: str) -> None:
        if self.alpha.ndim != 2:
            raise InvalidArgument(owner, "belief", "one in lockstep, see `batch`", self)
