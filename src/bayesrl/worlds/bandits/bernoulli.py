"""Bernoulli bandits: each arm pays 1 with its own probability, otherwise 0 (survey §2.1, Example in chapter 3).

The family draws every arm's probability uniformly, the setting of Russo and Van Roy's comparisons (10 arms, 1000 steps:
Thompson's Bayesian regret is 28.1 there, Bayes-UCB's 22.8, UCB1's 130.7). Each step draws
exactly one random number, so methods that are compared on the same stream stay aligned.
"""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, ClassVar

import numpy as np
from numpy.random import Generator

from bayesrl._explained import explain_failures
from bayesrl.beliefs.arms.beta_bernoulli import BetaBernoulli
from bayesrl.checks import Floats, generator
from bayesrl.core import WorldStep
from bayesrl.parameters import DISCOUNT, PROBABILITY, AtLeast, Shape, value
from bayesrl.registry import register
from bayesrl.worlds.bandits._arms import ArmsFamily, SingleArms, check_probabilities, entry_of_arm, shape_of
from bayesrl.worlds.settings import Setting

UNIFORM = Setting("uniform", steps=1000)
"""The default set-up: the agent's prior is uniform, like the distribution of worlds."""
PAID, UNPAID = WorldStep(None, 0, 1.0), WorldStep(None, 0, 0.0)


@explain_failures
@value
class BernoulliBandit(SingleArms):
    """Arms that pay 1 or 0.

    Examples
    --------
    >>> world = BernoulliBandit([0.1, 0.9])
    >>> world.step(None, 1, np.random.default_rng(0))
    WorldStep(state=None, observation=0, reward=1.0, terminated=False)
    >>> float(world.gap(None, 0))
    0.8
    """

    means: Annotated[
        Floats, PROBABILITY, Shape("(K,), or (replicates, K) in lockstep"), "Probability that each arm pays."
    ]
    name: Annotated[str, "Name of the world."] = "bernoulli-bandit"
    gamma: Annotated[float, DISCOUNT, "Discount."] = 1.0
    setting: Annotated[Setting, "How the world is usually run."] = field(default=UNIFORM, repr=False)

    rewards: ClassVar[str] = "bernoulli"

    def __post_init__(self) -> None:
        check_probabilities(self.name, self.means)
        object.__setattr__(self, "gamma", float(self.gamma))

    def step(self, state: None, action: object, rng: Generator) -> WorldStep:
        """Play an arm, or one in each replicate."""
        p = entry_of_arm(self.name, self.means, action)
        generator(self.name, rng)
        if isinstance(p, float):
            return PAID if rng.random() < p else UNPAID
        return WorldStep(None, 0, (rng.random(len(p)) < p).astype(np.float64))

    def default_prior(self) -> BetaBernoulli:
        """Every probability is uniform."""
        return BetaBernoulli.uniform(self.n_actions, self.gamma)


@explain_failures
@value
class BernoulliFamily(ArmsFamily):
    """Bernoulli bandits whose probabilities are drawn uniformly.

    Examples
    --------
    >>> BernoulliFamily(arms=3).draw(np.random.default_rng(0)).means.round(2)
    array([0.64, 0.27, 0.04])
    """

    arms: Annotated[int, AtLeast(1), "Number of arms, K."] = 10
    gamma: Annotated[float, DISCOUNT, "Discount."] = 1.0
    replicates: Annotated[int | None, AtLeast(1), "Number of worlds in lockstep that a draw holds; None: one."] = None
    setting: Annotated[Setting, "How the family is usually run."] = field(default=UNIFORM, repr=False)

    registered: ClassVar[str] = "bernoulli"

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", float(self.gamma))

    def draw(self, rng: Generator) -> BernoulliBandit:
        """A world of this family, or as many in lockstep as there are replicates."""
        means = generator(self.registered, rng).random(shape_of(self.arms, self.replicates))
        return BernoulliBandit(means, self.registered, self.gamma, self.setting)

    def default_prior(self) -> BetaBernoulli:
        """Every probability is uniform: the distribution that worlds are drawn from."""
        return BetaBernoulli.uniform(self.arms, self.gamma)


@register(
    "bernoulli",
    kind="family",
    survey="3",
    paper="Russo14IT",
    evidence=("tests/worlds/bandits/test_worlds.py::test_families_draw_what_they_say",),
)
def bernoulli(
    arms: Annotated[int, AtLeast(1), "Number of arms, K."] = 10, gamma: Annotated[float, DISCOUNT, "Discount."] = 1.0
) -> BernoulliFamily:
    """Bernoulli bandits whose arms have probabilities drawn uniformly.

    Examples
    --------
    >>> family = bernoulli(arms=2)
    >>> family.default_prior().mean()
    array([0.5, 0.5])
    >>> family.draw(np.random.default_rng(0)).n_actions
    2
    """
    return BernoulliFamily(arms, gamma)
