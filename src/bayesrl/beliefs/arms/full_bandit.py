"""Full-bandit feedback: several arms are chosen at once, and only the sum of their rewards is seen (survey §3.3).

The mean of the sum is linear in the arms' means. A Gaussian belief about the means is therefore updated as in
linear_gaussian_arms.py, with the indicator of the chosen set as features. A sum correlates its arms. The noise is that
of a sum of M rewards. For zeros and ones this is an approximation; `FiniteModels(BernoulliSums(...))` is
exact on finitely many models.

Deviations: the Gaussian likelihood. Cost: O(K^2) for an update or a sample. Claims: equal to linear regression on
indicators.
"""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from bayesrl.beliefs.arms._problems import SellsAtPrices, several
from bayesrl.beliefs.arms.arms import check_reward, check_set
from bayesrl.beliefs.arms.best_arm import DRAWS, best_arm_by_draws
from bayesrl.beliefs.arms.linear_gaussian_arms import LinearGaussianArms
from bayesrl.beliefs.log import Log, columns
from bayesrl.capabilities import BestArm, offers
from bayesrl.checks import Floats, array, integer
from bayesrl.core import Transition
from bayesrl.errors import InvalidArgument
from bayesrl.parameters import AtLeast, unchecked, value
from bayesrl.registry import register


def prior_for(problem: object) -> FullBandit:
    """`uniform` for the arms of a bandit that shows the sum of the chosen arms' rewards."""
    own = several("full-bandit", problem, "full")
    if offers(problem, SellsAtPrices):
        return FullBandit.at_prices(problem.prices, own.suggestions, own.gamma)
    return FullBandit.uniform(*own)


@register(
    "full-bandit",
    kind="belief",
    survey="3.3",
    paper="Gopalan14TS",
    example=lambda: FullBandit.uniform(4, 2),
    prior_for=prior_for,
    evidence=(
        "tests/bandits/test_planners.py::test_full_bandit_is_regression_on_indicators",
        "tests/beliefs/test_laws.py::test_belief_laws",
    ),
)
@value
class FullBandit:
    """A Gaussian belief about single arms that learns from sums of several.

    Examples
    --------
    >>> belief = FullBandit.uniform(arms=3, suggestions=2)
    >>> belief.update(Transition(0, action=np.array([0, 2]), reward=2.0, next_observation=0)).mean()
    array([0.66666667, 0.5       , 0.66666667])
    """

    weights: Annotated[LinearGaussianArms, "The belief about the arms' means, one weight for each arm."]
    suggestions: Annotated[
        int | None, AtLeast(1), "Largest number of arms in a set, M, to which the noise applies; None if unlimited."
    ] = None

    tells_information: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not isinstance(self.weights, LinearGaussianArms):
            raise InvalidArgument("FullBandit", "weights", "a LinearGaussianArms belief", self.weights)
        if self.suggestions is not None:
            integer("FullBandit", "suggestions", self.suggestions, 1, self.n_actions)

    @classmethod
    def uniform(cls, arms: int, suggestions: int, gamma: float = 1.0) -> FullBandit:
        """Means .5 with the variance of a uniform, 1/12, and the noise of a sum of zeros and ones, M/6 on average."""
        K = integer("FullBandit.uniform", "arms", arms, 1)
        M = integer("FullBandit.uniform", "suggestions", suggestions, 1, K)
        root = np.eye(K) / np.sqrt(12.0)
        return cls(LinearGaussianArms(np.full(K, 0.5), root, float(np.sqrt(M / 6.0)), None, np.eye(K), gamma), M)

    @classmethod
    def at_prices(cls, prices: ArrayLike, suggestions: int, gamma: float = 1.0) -> FullBandit:
        """The same if arm a pays 0 or prices[a]: means price / 2, and the noise of the M dearest arms.

        >>> FullBandit.at_prices([4.0, 12.0], suggestions=1).mean()
        array([2., 6.])
        """
        owner = "FullBandit.at_prices"
        x = array(owner, "prices", prices, (None,), low=0.0, above=True, moderate=True)
        M = integer(owner, "suggestions", suggestions, 1, len(x))
        noise = float(np.sqrt((np.sort(x)[-M:] ** 2).sum() / 6.0))
        return cls(LinearGaussianArms(0.5 * x, np.diag(x) / np.sqrt(12.0), noise, None, np.eye(len(x)), gamma), M)

    def batch(self, replicates: int) -> FullBandit:
        """The same belief for each of several replicates in lockstep."""
        return FullBandit(self.weights.batch(replicates), self.suggestions)

    def update(self, datum: Transition, rng: Generator | None = None) -> FullBandit:
        """The posterior after a set of arms and the sum of their rewards."""
        m = self.weights.mean_
        items = check_set("FullBandit.update", m.shape, datum.action)
        if self.suggestions is not None and items.shape[-1] > self.suggestions:
            expected = f"sets of at most {self.suggestions} arms"
            raise InvalidArgument("FullBandit.update", "action", expected, datum.action)
        x = np.zeros(m.shape)
        np.put_along_axis(x, items, 1.0, axis=-1)
        r = check_reward("FullBandit.update", m.shape, datum.reward)
        return unchecked(self, weights=self.weights.observe(x, r))

    def update_many(self, log: Log, rng: Generator | None = None) -> FullBandit:
        """The posterior after a log of sets of arms and sums."""
        new = self
        for action, reward in zip(*columns("FullBandit.update_many", log, "action", "reward"), strict=True):
            new = new.update(Transition(0, action, reward, 0), rng)
        return new

    @property
    def gamma(self) -> float:
        """Discount."""
        return self.weights.gamma

    @property
    def n_actions(self) -> int:
        """K, the number of arms."""
        return self.weights.n_weights

    def sample_means(self, context: object, rng: Generator) -> Floats:
        """Mean rewards of single arms, drawn from the belief."""
        return self.weights.sample_weights(rng)

    def mean(self, context: object = None) -> Floats:
        """Expected reward of each arm."""
        return self.weights.mean_

    def best_arm(self, context: object = None, samples: int = DRAWS, rng: Generator | None = None) -> BestArm:
        """The distribution of the best single arm, estimated from draws."""
        return best_arm_by_draws(self, context, samples, rng, None)

    def log_evidence(self) -> Floats:
        """Log density of the sums under the prior, for each replicate."""
        return self.weights.log_evidence()
