"""Semi-bandit feedback: several arms are chosen at once, and the reward of each is seen (survey §3.3).

This belief wraps any belief about single arms. The datum's action is a set of arms, its `next_observation` holds
the reward of each, and its reward is their sum. The rewards are independent observations of the arms.

Deviations: none. Cost: one update of the belief inside for each chosen arm. Claims: equal to single updates.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Protocol, Self, runtime_checkable

import numpy as np
from numpy.random import Generator

from bayesrl.beliefs.arms._problems import PRICED, SellsAtPrices, refusal, several
from bayesrl.beliefs.arms.beta_bernoulli import BetaBernoulli
from bayesrl.beliefs.log import Log, columns
from bayesrl.capabilities import Batches, HasMeans, SamplesMeans, lacking, offers
from bayesrl.checks import Floats
from bayesrl.core import Transition
from bayesrl.errors import Incompatible, InvalidArgument
from bayesrl.parameters import value
from bayesrl.registry import register


class Arms(SamplesMeans, HasMeans, Protocol):
    """A belief about single arms."""

    @property
    def gamma(self) -> float:
        """Discount."""

    @property
    def n_actions(self) -> int:
        """K."""

    def update(self, datum: Transition, rng: Generator | None = None) -> Self:
        """The posterior after a choice and its reward."""


@runtime_checkable
class SaysPay(Protocol):
    """A belief that says how its arms pay."""

    @property
    def pays_ones(self) -> bool:
        """Whether every arm pays 0 or 1."""


def prior_for(problem: object) -> SemiBandit:
    """Uniform probabilities for the arms of a bandit that shows the reward of each chosen arm."""
    own = several("semi-bandit", problem, "semi")
    if offers(problem, SellsAtPrices):
        raise refusal("semi-bandit", problem, "a bandit that pays 1 or 0", PRICED)
    return SemiBandit(BetaBernoulli.uniform(own.n_actions, own.gamma))


@register(
    "semi-bandit",
    kind="belief",
    survey="3.3",
    paper="Gopalan14TS",
    example=lambda: SemiBandit(BetaBernoulli.uniform(4)),
    prior_for=prior_for,
    evidence=(
        "tests/bandits/test_planners.py::test_semi_bandit_is_single_updates",
        "tests/beliefs/test_laws.py::test_belief_laws",
    ),
)
@value
class SemiBandit:
    """A belief about single arms that learns from the rewards of several arms at once.

    Examples
    --------
    >>> belief = SemiBandit(BetaBernoulli.uniform(3))
    >>> paid = np.array([1.0, 0.0])
    >>> belief.update(Transition(0, action=np.array([0, 2]), reward=1.0, next_observation=paid)).mean()
    array([0.66666667, 0.5       , 0.33333333])
    """

    arms: Annotated[Arms, "The belief about single arms."]

    sees_each: ClassVar[bool] = True

    def __post_init__(self) -> None:
        missing = lacking(self.arms, Arms)
        if missing:
            expected = "a belief about single arms (" + ", ".join(missing) + ")"
            raise InvalidArgument("SemiBandit", "arms", expected, self.arms)

    def batch(self, replicates: int) -> SemiBandit:
        """The same belief for each of several replicates in lockstep."""
        if not offers(self.arms, Batches):
            raise Incompatible("A lockstep run", type(self.arms).__name__, ["batch"])
        return SemiBandit(self.arms.batch(replicates))

    def update(self, datum: Transition, rng: Generator | None = None) -> SemiBandit:
        """The posterior after a set of arms and the reward of each."""
        items, paid = np.asarray(datum.action), np.asarray(datum.next_observation)
        if items.ndim == 0 or items.shape != paid.shape or paid.dtype.kind not in "biuf":
            raise InvalidArgument("SemiBandit.update", "next_observation", f"a reward for each of {items.shape}", paid)
        inside = self.arms
        for j in range(items.shape[-1]):
            one: Any = items[..., j], paid[..., j]
            a, r = one if items.ndim > 1 else (int(one[0]), float(one[1]))
            inside = inside.update(Transition(datum.observation, a, r, 0), rng)
        return SemiBandit(inside)

    def update_many(self, log: Log, rng: Generator | None = None) -> SemiBandit:
        """The posterior after a log of sets of arms ('action') and their rewards ('next_observation')."""
        new = self
        for action, paid in zip(*columns("SemiBandit.update_many", log, "action", "next_observation"), strict=True):
            new = new.update(Transition(0, action, float(np.sum(paid)), paid), rng)
        return new

    @property
    def gamma(self) -> float:
        """Discount."""
        return self.arms.gamma

    @property
    def pays_ones(self) -> bool:
        """Whether every arm pays 0 or 1."""
        return offers(self.arms, SaysPay) and self.arms.pays_ones

    @property
    def n_actions(self) -> int:
        """K, the number of arms."""
        return self.arms.n_actions

    def sample_means(self, context: object, rng: Generator) -> Floats:
        """Mean rewards of single arms, drawn from the belief. The observation holds rewards, so it is no context."""
        return np.asarray(self.arms.sample_means(None, rng))

    def mean(self, context: object = None) -> Floats:
        """Expected reward of each arm."""
        return np.asarray(self.arms.mean())
