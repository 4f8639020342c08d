"""Bernoulli bandits: arms that pay 1 with a probability of their own, else 0 (survey §2.1, Example in chapter 3).

The family draws every arm's probability uniformly, the setting of Russo and Van Roy's comparisons (10 arms, 1000 steps:
Thompson's Bayesian regret is 28.1 there, Bayes-UCB's 22.8, UCB1's 130.7). One random number is drawn for each step,
whatever is played, so that methods compared on the same stream stay aligned.
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator

from bayesrl.beliefs.arms.beta_bernoulli import BetaBernoulli
from bayesrl.checks import Floats, array, integer, number
from bayesrl.errors import InvalidArgument
from bayesrl.parameters import value
from bayesrl.registry import register
from bayesrl.worlds.bandits._arms import gap, picked, shape_of, side_by_side


@value
class BernoulliBandit:
    """Arms that pay 1 or 0."""

    means: Floats
    """Probability that an arm pays, shape (K,), or (replicates, K) in lockstep."""
    name: str = "bernoulli-bandit"
    gamma: float = 1.0
    """Discount."""
    prior: str = "uniform"
    """The prior an agent is given unless another is asked for."""
    steps: int = 1000
    """Length of a run unless another is asked for."""

    rewards: ClassVar[str] = "bernoulli"

    def __post_init__(self) -> None:
        means = array(self.name, "means", self.means, low=0.0)
        if means.ndim not in (1, 2) or means.max() > 1.0:
            raise InvalidArgument(self.name, "means", "probabilities of shape (arms,)", means)
        object.__setattr__(self, "means", means)
        object.__setattr__(self, "gamma", number(self.name, "gamma", self.gamma, 0.0, 1.0))

    def reset(self, rng: Generator) -> tuple[None, int]:
        """A bandit has no state."""
        return None, 0

    def step(self, state: None, action: Any, rng: Generator) -> tuple[None, int, Any, bool]:
        """Play an arm."""
        p = picked(self.name, self.means, action)
        if self.means.ndim == 1:
            return None, 0, 1.0 if rng.random() < p else 0.0, False
        return None, 0, (rng.random(len(p)) < p).astype(np.float64), False

    def batch(self, replicates: int) -> BernoulliBandit:
        """The same arms for so many replicates."""
        return dataclasses.replace(self, means=side_by_side(self.means, replicates))

    def default_prior(self) -> BetaBernoulli:
        """Every probability uniform."""
        return BetaBernoulli.uniform(self.n_actions, self.gamma)

    def gap(self, state: object, action: Any) -> Any:
        """The best arm's mean less the chosen one's."""
        return gap(self.name, self.means, action)

    @property
    def n_actions(self) -> int:
        """K."""
        return self.means.shape[-1]


@value
class BernoulliFamily:
    """Bernoulli bandits whose probabilities are drawn uniformly."""

    arms: int = 10
    gamma: float = 1.0
    """Discount."""
    replicates: int | None = None
    """How many worlds a draw holds in lockstep."""
    prior: str = "uniform"
    """The prior an agent is given unless another is asked for: the one worlds are drawn from."""
    steps: int = 1000
    """Length of a run unless another is asked for."""

    def __post_init__(self) -> None:
        integer("bernoulli", "arms", self.arms, 1)
        object.__setattr__(self, "gamma", number("bernoulli", "gamma", self.gamma, 0.0, 1.0))

    def draw(self, rng: Generator) -> BernoulliBandit:
        """A world of this family, or as many in lockstep as there are replicates."""
        means = rng.random(shape_of(self.arms, self.replicates))
        return BernoulliBandit(means, "bernoulli", self.gamma, self.prior, self.steps)

    def batch(self, replicates: int) -> BernoulliFamily:
        """The family of so many worlds in lockstep."""
        return dataclasses.replace(self, replicates=integer("bernoulli", "replicates", replicates, 1))

    def default_prior(self) -> BetaBernoulli:
        """Every probability uniform: the distribution that worlds are drawn from."""
        return BetaBernoulli.uniform(self.arms, self.gamma)

    @property
    def n_actions(self) -> int:
        """K."""
        return self.arms


@register(
    "bernoulli",
    kind="family",
    survey="3",
    paper="Russo14IT",
    evidence=("tests/bandits/test_worlds.py::test_families_draw_what_they_say",),
)
def bernoulli(arms: int = 10, gamma: float = 1.0) -> BernoulliFamily:
    """Bernoulli bandits whose arms have probabilities drawn uniformly."""
    return BernoulliFamily(arms, gamma)
