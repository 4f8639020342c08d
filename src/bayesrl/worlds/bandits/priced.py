"""Bandits with prices: a purchase of arm a pays prices[a], otherwise 0 (survey §2.1, the known reward r(Y)).

Each bandit of arms that pay 1 or 0 has its counterpart here, in which the outcome is the same and the reward is money:

    PricedBandit       one arm at a time                                (`BernoulliBandit`)
    PricedFamily       the same with rates that are drawn uniformly     (`BernoulliFamily`)
    PricedSeveral      several at once, the profits add up; semi- or full-bandit feedback (`CombinatorialBandit`)
    PricedContextual   the kind of customer is observed first           (`ContextualBandit`)

`coins` is that counterpart. Both draw the same random numbers, so the same choices have the same purchases.
"""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from typing import Annotated, ClassVar, Literal, Self

import numpy as np
from numpy.random import Generator

from bayesrl._explained import explain_failures
from bayesrl.beliefs.arms.beta_bernoulli import BetaBernoulli
from bayesrl.beliefs.arms.full_bandit import FullBandit
from bayesrl.beliefs.arms.money.priced import Priced, Purchases
from bayesrl.beliefs.arms.semi_bandit import SemiBandit
from bayesrl.checks import Floats, Ints, as_array, frozen, generator, integer, rows_sum_to_one
from bayesrl.core import WorldStep
from bayesrl.errors import InvalidArgument
from bayesrl.kernels.ties import RELATIVE
from bayesrl.parameters import DISCOUNT, PROBABILITY, Above, AtLeast, Shape, unchecked, value
from bayesrl.traits import Traits
from bayesrl.worlds.bandits._arms import ArmsFamily, entry_of_arm, repeat_means, shape_of
from bayesrl.worlds.bandits._contextual import GAUSSIAN, ContextualBandit
from bayesrl.worlds.bandits.bernoulli import UNIFORM, BernoulliBandit, BernoulliFamily
from bayesrl.worlds.bandits.combinatorial import CombinatorialBandit
from bayesrl.worlds.settings import Published, Setting

Prices = Annotated[Floats, Above(0), Shape("(K,)"), "What a purchase of each arm pays."]


class Sells(Published):
    """A bandit whose arms have purchase rates (..., K) and prices (K,)."""

    rates: Floats
    prices: Floats
    name: str
    rewards: ClassVar[str] = "priced"

    traits: ClassVar[Traits] = Traits(depends_on_data=("means", "coins", "_seen"))

    @property
    def n_actions(self) -> int:
        """K, the arms to choose from."""
        return self.rates.shape[-1]

    @cached_property
    def means(self) -> Floats:
        """The mean profit of a choice of each arm: rates times prices, in the shape of the rates."""
        return frozen(self.rates * self.prices)

    def _check(self, *axes: str) -> None:
        """Refuse rates of other shapes, also with a first axis of replicates, and prices that do not fit."""
        if self.rates.ndim not in (len(axes), len(axes) + 1) or self.rates.max() > 1.0:
            raise InvalidArgument(self.name, "rates", f"probabilities of shape ({', '.join(axes)})", self.rates)
        if self.prices.shape != (self.n_actions,):
            raise InvalidArgument(self.name, "prices", f"of shape ({self.n_actions},), one for each arm", self.prices)


@explain_failures
@value
class PricedBandit(Sells):
    """Arms that pay their price or 0.

    Examples
    --------
    >>> world = PricedBandit(rates=[0.5, 0.1], prices=[2.0, 20.0])
    >>> world.means, float(world.gap(None, 0))
    (array([1., 2.]), 1.0)
    >>> world.step(None, 1, np.random.default_rng(3)).reward
    20.0
    """

    rates: Annotated[
        Floats, PROBABILITY, Shape("(K,), or (replicates, K) in lockstep"), "Probability that each arm is bought."
    ]
    prices: Prices
    name: Annotated[str, "Name of the world."] = "priced-bandit"
    gamma: Annotated[float, DISCOUNT, "Discount."] = 1.0
    setting: Annotated[Setting, "How the world is usually run."] = field(default=UNIFORM, repr=False)

    def __post_init__(self) -> None:
        self._check("arms")

    @cached_property
    def coins(self) -> BernoulliBandit:
        """The same purchases with a reward of 1 for each."""
        return BernoulliBandit(self.rates, self.name, self.gamma, self.setting)

    def batch(self, replicates: int) -> Self:
        """The same arms in each of several replicates in lockstep."""
        return unchecked(self, rates=repeat_means(self.rates, replicates))

    def reset(self, rng: Generator) -> tuple[None, int]:
        """A bandit has no state."""
        return None, 0

    def step(self, state: None, action: object, rng: Generator) -> WorldStep:
        """Play an arm, or one in each replicate."""
        made = self.coins.step(state, action, rng)
        return made._replace(reward=made.reward * _price(self.prices, action))

    def gap(self, state: object, action: object) -> float | Floats:
        """The best arm's mean profit minus the chosen arm's: the regret of a step."""
        lost: float | Floats = self.means.max(axis=-1) - entry_of_arm(self.name, self.means, action)
        return lost

    def default_prior(self) -> Priced:
        """Every rate is uniform, and prices are known."""
        return Priced(BetaBernoulli.uniform(self.n_actions, self.gamma), self.prices)


@explain_failures
@value
class PricedFamily(ArmsFamily):
    """Bandits with these prices, whose purchase rates are drawn uniformly.

    Examples
    --------
    >>> PricedFamily(prices=[1.0, 10.0]).draw(np.random.default_rng(0)).rates.round(2)
    array([0.64, 0.27])
    """

    prices: Prices
    gamma: Annotated[float, DISCOUNT, "Discount."] = 1.0
    replicates: Annotated[int | None, AtLeast(1), "Number of worlds in lockstep that a draw holds; None: one."] = None
    setting: Annotated[Setting, "How the family is usually run."] = field(default=UNIFORM, repr=False)

    registered: ClassVar[str] = "priced-bandit"

    def __post_init__(self) -> None:
        if self.prices.ndim != 1:
            raise InvalidArgument("PricedFamily", "prices", "of shape (arms,), one for each arm", self.prices)

    @property
    def n_actions(self) -> int:
        """K, the arms to choose from."""
        return len(self.prices)

    @property
    def coins(self) -> BernoulliFamily:
        """The same purchases with a reward of 1 for each."""
        return BernoulliFamily(self.n_actions, self.gamma, self.replicates, self.setting)

    def draw(self, rng: Generator) -> PricedBandit:
        """A world of this family, or as many in lockstep as there are replicates."""
        rates = generator(self.registered, rng).random(shape_of(self.n_actions, self.replicates))
        return PricedBandit(rates, self.prices, self.registered, self.gamma, self.setting)

    def default_prior(self) -> Priced:
        """Every rate is uniform: the distribution that worlds are drawn from."""
        return Priced(BetaBernoulli.uniform(self.n_actions, self.gamma), self.prices)


@explain_failures
@value
class PricedSeveral(Sells):
    """Arms with prices of which several are chosen at once: their profits add up.

    Examples
    --------
    >>> world = PricedSeveral([0.0, 1.0, 1.0], prices=[3.0, 5.0, 8.0], suggestions=2)
    >>> _, paid, reward, _ = world.step(None, [0, 2], np.random.default_rng(0))
    >>> paid, reward
    (array([0., 8.]), 8.0)
    """

    rates: Annotated[
        Floats, PROBABILITY, Shape("(K,), or (replicates, K) in lockstep"), "Probability that each arm is bought."
    ]
    prices: Prices
    suggestions: Annotated[int, AtLeast(1), "Number of arms that are chosen at once, M."] = 3
    feedback: Annotated[
        Literal["semi", "full"], 'What is observed: every chosen arm\'s profit ("semi") or only their sum ("full").'
    ] = "semi"
    name: Annotated[str, "Name of the world."] = "priced-several"
    gamma: Annotated[float, DISCOUNT, "Discount."] = 1.0
    setting: Annotated[Setting, "How the world is usually run."] = field(default=UNIFORM, repr=False)

    def __post_init__(self) -> None:
        self._check("arms")
        integer(self.name, "suggestions", self.suggestions, 1, self.n_actions)

    @cached_property
    def coins(self) -> CombinatorialBandit:
        """The same purchases with a reward of 1 for each."""
        return CombinatorialBandit(self.rates, self.suggestions, self.feedback, self.name, self.gamma, self.setting)

    @cached_property
    def _seen(self) -> CombinatorialBandit:
        """The same with each purchase seen."""
        return CombinatorialBandit(self.rates, self.suggestions, "semi", self.name, self.gamma, self.setting)

    def batch(self, replicates: int) -> Self:
        """The same arms in each of several replicates in lockstep."""
        return unchecked(self, rates=repeat_means(self.rates, replicates))

    def reset(self, rng: Generator) -> tuple[None, Floats | int]:
        """A bandit has no state; the first observation is zero."""
        return self.coins.reset(rng)

    def step(self, state: None, action: object, rng: Generator) -> WorldStep:
        """Choose a set of arms; the observation is the profit of each, or 0 with full-bandit feedback."""
        paid = self._seen.step(state, action, rng).observation * self.prices[as_array(action)]
        total = paid.sum(axis=-1)
        return WorldStep(None, paid if self.feedback == "semi" else 0, total if total.ndim else float(total))

    def gap(self, state: object, action: object) -> float | Floats:
        """The best set's mean profit minus the chosen set's."""
        self._seen.gap(state, action)  # refuses anything but a set
        best = np.sort(self.means, axis=-1)[..., -self.suggestions :].sum(axis=-1)
        lost = best - np.take_along_axis(self.means, as_array(action), axis=-1).sum(axis=-1)
        rounded: float | Floats = np.where(lost > RELATIVE * best, lost, 0.0)[()]  # the sums add in different orders
        return rounded

    def default_prior(self) -> Priced | FullBandit:
        """Every rate is uniform; with full-bandit feedback, Gaussian with the same mean and variance."""
        if self.feedback == "full":
            return FullBandit.at_prices(self.prices, self.suggestions, self.gamma)
        return Priced(SemiBandit(BetaBernoulli.uniform(self.n_actions, self.gamma)), self.prices)


@explain_failures
@value
class PricedContextual(Sells):
    """Arms with prices, whose purchase rates depend on the kind of customer, which is observed first.

    Examples
    --------
    >>> from bayesrl.beliefs import LogisticArms
    >>> belief = LogisticArms.isotropic(4, features=np.eye(4).reshape(2, 2, 4))
    >>> world = PricedContextual([[0.5, 0.1], [0.2, 0.3]], prices=[2.0, 20.0], belief=belief)
    >>> world.means.tolist(), [float(world.gap(context, 0)) for context in (0, 1)]
    ([[1.0, 2.0], [0.4, 6.0]], [1.0, 5.6])
    """

    rates: Annotated[
        Floats,
        PROBABILITY,
        Shape("(C, K), or (replicates, C, K) in lockstep"),
        "Probability that each arm is bought by each kind of customer.",
    ]
    prices: Prices
    belief: Annotated[Purchases, "The default belief of an agent about what is bought."] = field(repr=False)
    frequency: Annotated[Floats | None, Shape("(C,)"), "Probability of each kind; None: all are as frequent."] = None
    name: Annotated[str, "Name of the world."] = "priced-contextual"
    gamma: Annotated[float, DISCOUNT, "Discount."] = 1.0
    setting: Annotated[Setting, "How the world is usually run."] = field(default=GAUSSIAN, repr=False)

    def __post_init__(self) -> None:
        self._check("contexts", "arms")
        if self.frequency is not None:
            p = self.frequency
            if p.shape != (self.n_contexts,) or p.min() < 0.0:
                raise InvalidArgument(self.name, "frequency", f"probabilities of shape ({self.n_contexts},)", p)
            object.__setattr__(self, "frequency", rows_sum_to_one(self.name, "frequency", p, p))
        Priced(self.belief, self.prices)

    @cached_property
    def coins(self) -> ContextualBandit:
        """The same purchases with a reward of 1 for each; contexts are as frequent as each other."""
        return ContextualBandit(self.rates, None, self.belief, self.name, self.gamma, self.setting)

    @property
    def n_contexts(self) -> int:
        """C."""
        return self.rates.shape[-2]

    def batch(self, replicates: int) -> Self:
        """The same arms in each of several replicates in lockstep."""
        return unchecked(self, rates=self.coins.batch(replicates).means)

    def reset(self, rng: Generator) -> tuple[int | Ints, int | Ints]:
        """The first context, which is also what is observed."""
        if self.frequency is None:
            return self.coins.reset(rng)
        context = self._drawn(generator(self.name, rng))
        return context, context

    def step(self, state: int | Ints, action: object, rng: Generator) -> WorldStep:
        """Suggest an arm in this context; the next context, the same as observed, and the profit."""
        made = self.coins.step(state, action, rng)
        context = made.state if self.frequency is None else self._drawn(rng)
        return WorldStep(context, context, made.reward * _price(self.prices, action))

    def gap(self, state: int | Ints, action: object) -> float | Floats:
        """The best arm's mean profit in this context minus the chosen arm's."""
        self.coins.gap(state, action)  # refuses other contexts and arms
        means = self.means[state] if self.means.ndim == 2 else self.means[np.arange(len(self.means)), state]
        lost: float | Floats = means.max(axis=-1) - entry_of_arm(self.name, means, action)
        return lost

    def default_prior(self) -> Priced:
        """The default belief, and the known prices."""
        return Priced(self.belief, self.prices)

    def _drawn(self, rng: Generator) -> int | Ints:
        """A context, or one for each replicate, by its frequency."""
        assert self.frequency is not None
        below = np.cumsum(self.frequency)
        u = rng.random(None if self.rates.ndim == 2 else len(self.rates)) * below[-1]
        context = np.searchsorted(below, u, side="right")
        return int(context) if self.rates.ndim == 2 else context


def _price(prices: Floats, action: object) -> float | Floats:
    """The price of an arm that is known to be one, or a price for each replicate."""
    price = prices[as_array(action)]
    return price if price.ndim else float(price)
