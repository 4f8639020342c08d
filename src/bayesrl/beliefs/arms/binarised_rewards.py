"""Rewards in [0, 1] for beliefs about zeros and ones (Agrawal and Goyal 2012, Algorithm 2; survey §3.3).

A reward r in [0, 1] is replaced by a coin toss that shows 1 with probability r. The mean of the coin is the mean of the
arm, so Thompson sampling for Bernoulli arms, and the proof of its regret bound, apply to every distribution on [0, 1].

The coin is tossed in `update`. This belief wraps another one, so that every planner can use it. It is the only belief
about arms whose `update` needs `rng`. A number is drawn for each reward, even if the reward is 0 or 1, so that streams
stay aligned.

Deviations: none. Cost: one random number for each reward. Claims: unbiased; equal to the belief inside on zeros and
ones.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.random import Generator

from bayesrl.beliefs.arms._problems import pays_ones
from bayesrl.beliefs.arms.arms import arm_index, check_reward, check_rewards
from bayesrl.beliefs.arms.best_arm import DRAWS
from bayesrl.beliefs.arms.beta_bernoulli import BetaBernoulli
from bayesrl.beliefs.log import Log, columns
from bayesrl.capabilities import BestArm
from bayesrl.checks import Floats, generator
from bayesrl.core import Transition
from bayesrl.errors import ImpossibleEvidence, InvalidArgument
from bayesrl.parameters import value
from bayesrl.registry import register


def prior_for(problem: object) -> BinarisedRewards:
    """Uniform probabilities for the arms of a bandit that pays 1 or 0."""
    own = pays_ones("binarised-rewards", problem)
    return BinarisedRewards(BetaBernoulli.uniform(own.n_actions, own.gamma))


@register(
    "binarised-rewards",
    kind="belief",
    survey="3.3",
    paper="Agrawal11AT",
    example=lambda: BinarisedRewards(BetaBernoulli.uniform(3)),
    prior_for=prior_for,
    evidence=(
        "tests/beliefs/arms/test_arms.py::test_binarised_coin_is_fair_to_the_mean",
        "tests/beliefs/arms/test_arms.py::test_binarised_is_transparent_on_zeros_and_ones",
        "tests/beliefs/test_laws.py::test_belief_laws",
    ),
)
@value
class BinarisedRewards:
    """Rewards in [0, 1], each replaced by 1 or 0 by a coin with that probability.

    Examples
    --------
    >>> belief = BinarisedRewards(BetaBernoulli.uniform(2))
    >>> belief.update(Transition(0, action=1, reward=0.7, next_observation=0), np.random.default_rng(0)).inside
    BetaBernoulli(alpha=array([1., 2.]), beta=array([1., 1.]), gamma=1.0)
    """

    inside: Annotated[BetaBernoulli, "The belief about zeros and ones."]

    tells_information: ClassVar[bool] = True
    pays_ones: ClassVar[bool] = True  # also: rewards of 0 and 1 are handed on as they are

    def __post_init__(self) -> None:
        if not isinstance(self.inside, BetaBernoulli):
            raise InvalidArgument("BinarisedRewards", "inside", "a BetaBernoulli belief", self.inside)

    def batch(self, replicates: int) -> BinarisedRewards:
        """The same belief for each of several replicates in lockstep."""
        return BinarisedRewards(self.inside.batch(replicates))

    def update(self, datum: Transition, rng: Generator | None = None) -> BinarisedRewards:
        """The posterior after the coin's outcome."""
        rng = generator("BinarisedRewards.update", rng)
        arm_index("BinarisedRewards.update", self.inside.alpha.shape, datum.action)  # before a coin is tossed
        r = check_reward("BinarisedRewards.update", self.inside.alpha.shape, datum.reward)
        shown: Any = _coin(r, rng)  # in lockstep a transition holds one reward for each replicate
        return BinarisedRewards(self.inside.update(datum._replace(reward=shown), rng))

    def update_many(self, log: Log, rng: Generator | None = None) -> BinarisedRewards:
        """The posterior after a log of choices and rewards, a coin for each."""
        rng = generator("BinarisedRewards.update_many", rng)
        action, reward = columns("BinarisedRewards.update_many", log, "action", "reward")
        r = check_rewards("BinarisedRewards.update_many", reward, action.shape)
        return BinarisedRewards(self.inside.update_many({"action": action, "reward": _coin(r, rng)}))

    @property
    def gamma(self) -> float:
        """Discount."""
        return self.inside.gamma

    @property
    def n_actions(self) -> int:
        """K, the number of arms."""
        return self.inside.n_actions

    def sample_means(self, context: object, rng: Generator) -> Floats:
        """Mean rewards drawn from the belief."""
        return self.inside.sample_means(context, rng)

    def mean(self, context: object = None) -> Floats:
        """Expected reward of each arm."""
        return self.inside.mean(context)

    def variance(self, context: object = None) -> Floats:
        """Posterior variance of each arm's mean reward."""
        return self.inside.variance(context)

    def quantile(self, p: float, context: object = None) -> Floats:
        """The p-quantile of each arm's mean reward."""
        return self.inside.quantile(p, context)

    def plays(self) -> Floats:
        """The number of plays of each arm, without prior pseudo-counts."""
        return self.inside.plays()

    def average(self) -> Floats:
        """The average coin of each arm; nan if the arm has not been played."""
        return self.inside.average()

    def best_arm(self, context: object = None, samples: int = DRAWS, rng: Generator | None = None) -> BestArm:
        """The distribution of the best arm, by numerical integration. The information is that of the coin."""
        return self.inside.best_arm(context, samples, rng)


def _coin(r: Floats | float, rng: Generator) -> Floats:
    bad = (np.asarray(r) < 0.0) | (np.asarray(r) > 1.0)
    if bad.any():
        raise ImpossibleEvidence(
            "BinarisedRewards", f"reward {np.asarray(r)[bad].ravel()[0]:g}", "rewards lie in [0, 1]"
        )
    return np.asarray(rng.random(np.shape(r)) < r, np.float64)[()]
