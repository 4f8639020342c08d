"""Arms with prices: a purchase pays the price of its arm (survey §2.1, the known reward r(Y) of an outcome Y).

The outcome of arm a is 1 (bought) or 0, and its reward is r(Y) = price_a Y. This belief wraps a belief about the
outcomes: Beta or logistic arms, finitely many models, a semi-bandit, one that forgets, ... It hands them on as zeros
and ones and answers in units of money: the mean reward of arm a is price_a times the probability of a purchase. So are
draws, quantiles and Gittins's indices; a variance is multiplied by price_a^2. Probabilities of the data stay as they
are: a price that is known tells nothing.

Which arm is best depends on the prices. A belief that can compare its arms at prices (`best_arm_at`, `posteriors_at`)
is asked; for others `best_arm` draws. A reward tells what its outcome tells, so the information of a play is that of
a zero or one.

Prices are positive. At price 0 a purchase could not be told from none, and a negative price would turn quantiles round.

Deviations: none. Cost: that of the belief inside and O(K). `best_arm` of Betas: 2 ms with 8 arms. Claims: equal, value
for value, to the same problem with listed outcomes; prices of 1 change nothing; belief laws.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, partial
from inspect import signature
from typing import Annotated, Any, Protocol, Self, cast, runtime_checkable

import numpy as np
from numpy.random import Generator

from bayesrl.beliefs._problems import needed
from bayesrl.beliefs.arms._problems import SellsAtPrices
from bayesrl.beliefs.arms.arms import check_reward, check_rewards, unchecked
from bayesrl.beliefs.arms.best_arm import DRAWS, bernoulli_information, best_arm_by_draws
from bayesrl.beliefs.arms.beta_bernoulli import BetaBernoulli
from bayesrl.beliefs.arms.forgetting import Fades
from bayesrl.beliefs.log import Log, column_name, table_of, transitions
from bayesrl.capabilities import (
    ArmPosteriors,
    ArmStates,
    Batches,
    BestArm,
    CountsPlays,
    HasLogEvidence,
    HasMeans,
    HasQuantiles,
    HasVariances,
    LearnsLogs,
    ListsArms,
    SamplesMeans,
    TakesFeatures,
    lacking,
    offers,
    reasons,
)
from bayesrl.checks import Floats, Ints, as_array, integer
from bayesrl.core import Belief, Transition
from bayesrl.errors import ImpossibleEvidence, Incompatible, InvalidArgument
from bayesrl.kernels.ties import RELATIVE
from bayesrl.parameters import Above, Shape, value
from bayesrl.registry import lookup, register


class Purchases(HasMeans, Belief[Transition], Protocol):
    """A belief about arms that pay 0 or 1."""

    @property
    def gamma(self) -> float:
        """Discount, in [0, 1]."""

    @property
    def pays_ones(self) -> bool:
        """Whether every arm pays 0 or 1."""


@runtime_checkable
class ComparesAtPrices(Protocol):
    """A belief about arms that pay 0 or 1, which can compare the arms if a one of arm a is worth prices[a]."""

    def best_arm_at(self, prices: Floats) -> BestArm:
        """The distribution of the arm of largest mean times price."""


@runtime_checkable
class SeesEach(Protocol):
    """A belief about single arms of which several are chosen at once."""

    @property
    def sees_each(self) -> bool:
        """Whether the next observation of a datum holds the reward of each chosen arm."""


class Answers(
    SamplesMeans,
    HasVariances,
    HasQuantiles,
    CountsPlays,
    HasLogEvidence,
    LearnsLogs,
    Batches,
    TakesFeatures,
    Fades,
    Protocol,
):
    """Everything that a belief with prices passes on, if the belief inside has it."""

    def arm_states(self) -> ArmStates:
        """The state of each arm."""

    @property
    def posterior_size(self) -> int:
        """The size of one posterior for each arm and outcome, times the number of replicates."""

    def posteriors_at(self, prices: Floats, seen: Ints) -> ArmPosteriors:
        """The posteriors after seen[n, a, y] further outcomes y of arm a, whose ones are worth prices[a]."""

    def distinct_replicates(self) -> tuple[Self, Ints]:
        """The distinct replicates, and the index among them of each replicate."""

    def some_replicates(self, part: slice) -> Self:
        """Only these replicates."""


INSTEAD = {"posteriors_after": "posteriors_at", "reward_values": "posteriors_at"}
"""Members that need another one of the belief inside."""


def prior_for(
    problem: object,
    belief: Annotated[str, "Name of the belief about purchases, as in `--prior`; empty: the usual one."] = "",
    rng: Generator | None = None,
) -> Priced:
    """The known prices of a bandit, and a belief about what is bought: the usual one, or one of this name."""
    own = needed("priced", problem, SellsAtPrices)
    if not belief:
        return Priced(own.coins.default_prior(), own.prices)
    entry = lookup(str(belief))
    way = next(iter(entry.ways.values()), None) if entry is not None and entry.kind == "belief" else None
    if way is None:
        raise InvalidArgument("priced", "belief", "the name of a belief about arms that pay 0 or 1", belief)
    drawn = {"rng": rng} if "rng" in signature(way).parameters else {}
    return Priced(way(own.coins, **drawn), own.prices)


@register(
    "priced",
    kind="belief",
    survey="2.1",
    example=lambda: Priced(
        BetaBernoulli(np.array([0.8, 1.5, 2.0]), np.array([1.3, 1.0, 0.7])), np.array([4.0, 7.0, 2.5])
    ),
    prior_for=prior_for,
    evidence=(
        "tests/beliefs/arms/money/test_priced.py::test_equals_the_problem_with_listed_outcomes",
        "tests/beliefs/arms/money/test_priced.py::test_best_arm_of_betas_at_prices_is_quadrature",
        "tests/beliefs/arms/money/test_priced.py::test_prices_of_one_change_nothing",
        "tests/beliefs/test_laws.py::test_belief_laws",
    ),
)
@value
class Priced:
    """Arms that pay 0 or their price, around a belief about what is bought.

    Examples
    --------
    >>> belief = Priced(BetaBernoulli.uniform(2), prices=[20.0, 5.0])
    >>> belief.update(Transition(0, action=1, reward=5.0, next_observation=0)).mean().round(3)
    array([10.   ,  3.333])
    """

    belief: Annotated[Purchases, "The belief about what is bought: arms that pay 0 or 1."]
    prices: Annotated[Floats, Above(0), Shape("(K,)"), "Reward of a purchase of each arm."]

    def __post_init__(self) -> None:
        missing = lacking(self.belief, Purchases)
        if missing:
            expected = "a belief about arms that pay 0 or 1 (" + ", ".join(missing) + ")"
            raise InvalidArgument("Priced", "belief", expected, type(self.belief).__name__)
        if not self.belief.pays_ones:
            raise InvalidArgument("Priced", "belief", "a belief about arms that pay 0 or 1", self.belief)
        K = _number_of_arms(self.belief)
        if self.prices.ndim != 1 or K not in (None, len(self.prices)):
            expected = f"of shape ({'arms' if K is None else K},), one for each arm"
            raise InvalidArgument("Priced", "prices", expected, self.prices)

    def batch(self, replicates: int) -> Priced:
        """The same belief for each of several replicates in lockstep."""
        return unchecked(self, belief=self._asked("batch").batch(replicates))

    # Learning --------------------------------------------------------------------------------------------------------

    def update(self, datum: Transition, rng: Generator | None = None) -> Priced:
        """The posterior after a choice and its reward (or one of each for every replicate)."""
        return unchecked(self, belief=self.belief.update(self.as_purchase(datum), rng))

    def update_many(self, log: Log, rng: Generator | None = None) -> Priced:
        """The posterior after a log of choices and rewards."""
        owner, inside = "Priced.update_many", self._asked("update_many")
        table = table_of(log)
        if table is None:
            steps = [self.as_purchase(step, owner) for step in transitions(owner, log)]
            return unchecked(self, belief=inside.update_many(steps, rng))
        names = {name: column_name(table, name) for name in Transition._fields}
        columns: dict[str, Any] = {name: table[called] for name, called in names.items() if called is not None}
        paid = "next_observation" if self._sees_each else "reward"
        for name in ("action", paid):
            if name not in columns:
                raise InvalidArgument(owner, "log", f"with a column '{name}'", list(table))
        if len(columns["action"]):
            columns[paid] = self._bought(owner, paid, as_array(columns["action"]), as_array(columns[paid]))
        return unchecked(self, belief=inside.update_many(columns, rng))

    def as_purchase(self, datum: Transition, owner: str = "Priced.update") -> Transition:
        """The datum with zeros and ones instead of prices."""
        if self._sees_each:
            paid = as_array(datum.next_observation)
            bought = self._bought(owner, "next_observation", as_array(datum.action), paid)
            total: Any = bought.sum(axis=-1)  # in lockstep one for each replicate
            return datum._replace(reward=total, next_observation=bought)
        if np.ndim(datum.action):
            many: Any = self._bought(owner, "reward", as_array(datum.action), as_array(datum.reward))
            return datum._replace(reward=many)
        K = len(self.prices)
        a = datum.action if type(datum.action) is int else integer(owner, "action", datum.action, 0, K - 1)
        if not 0 <= a < K:
            integer(owner, "action", a, 0, K - 1)
        r, price = check_reward(owner, self.prices.shape, datum.reward), self.prices.item(a)
        if r == 0.0:
            return datum._replace(reward=0.0)
        if abs(r - price) > RELATIVE * price:
            raise _impossible(r, a, price)
        return datum._replace(reward=1.0)

    def _bought(self, owner: str, name: str, action: Any, paid: Any) -> Floats:
        """Which of these arms were bought, zeros and ones in the shape of the actions."""
        K = len(self.prices)
        if action.dtype.kind not in "iu" or not action.size or action.min() < 0 or action.max() >= K:
            raise InvalidArgument(owner, "action", f"whole numbers from 0 to {K - 1}", action)
        if paid.shape != action.shape or paid.dtype.kind not in "biuf":
            raise InvalidArgument(owner, name, f"a reward for each of {action.shape}", paid)
        r, price = check_rewards(owner, paid, action.shape), self.prices[action]
        bought = abs(r - price) <= RELATIVE * price
        bad = ~bought & (r != 0.0)
        if bad.any():
            raise _impossible(float(r[bad][0]), int(action[bad][0]), float(price[bad][0]))
        return np.asarray(bought, np.float64)

    @cached_property
    def _sees_each(self) -> bool:
        return offers(self.belief, SeesEach) and self.belief.sees_each

    # Answers in units of money ---------------------------------------------------------------------------------------

    @property
    def gamma(self) -> float:
        """Discount."""
        return self.belief.gamma

    @property
    def n_actions(self) -> int:
        """K."""
        return len(self.prices)

    @cached_property
    def unsupported(self) -> Mapping[str, str]:
        """The members that the belief inside cannot answer, and the reasons."""
        missing = lacking(self.belief, Answers)
        why = f"The belief inside, {type(self.belief).__name__}, lacks "
        told = {name: reasons(self.belief, [name]) or f"{why}'{name}'." for name in missing}
        return told | {name: told[needs] for name, needs in INSTEAD.items() if needs in told}

    def _asked(self, name: str) -> Answers:
        """The belief inside; an error if it does not answer this."""
        if name in self.unsupported:
            raise Incompatible(f"Priced.{name}", type(self.belief).__name__, [name], self.unsupported[name])
        return cast(Answers, self.belief)

    def sample_means(self, context: object, rng: Generator) -> Floats:
        """Mean rewards drawn from the belief."""
        return self.prices * self._asked("sample_means").sample_means(context, rng)

    def mean(self, context: object = None) -> Floats:
        """Expected reward of each arm."""
        return self.prices * self.belief.mean(context)

    def variance(self, context: object = None) -> Floats:
        """Posterior variance of each arm's mean reward."""
        return self.prices**2 * self._asked("variance").variance(context)

    def quantile(self, p: float, context: object = None) -> Floats:
        """The p-quantile of each arm's mean reward."""
        return self.prices * self._asked("quantile").quantile(p, context)

    def plays(self) -> Floats:
        """The number of plays of each arm, without prior pseudo-counts."""
        return self._asked("plays").plays()

    def average(self) -> Floats:
        """The average reward of each arm; nan if the arm has not been played."""
        return self.prices * self._asked("average").average()

    def log_evidence(self) -> Floats:
        """log P(rewards | choices) under the prior, for each replicate: that of the purchases."""
        return np.asarray(self._asked("log_evidence").log_evidence())

    def reward_deviation(self) -> float:
        """A reward in [0, price] is sub-Gaussian with deviation price / 2."""
        return 0.5 * float(self.prices.max())

    @property
    def tells_information(self) -> bool:
        """A reward tells what its outcome, 0 or 1, tells."""
        return True

    def best_arm(self, context: object = None, samples: int = DRAWS, rng: Generator | None = None) -> BestArm:
        """The distribution of the best arm: computed if the belief inside can, else estimated from draws."""
        if offers(self.belief, ComparesAtPrices):
            return self.belief.best_arm_at(self.prices)
        self._asked("sample_means")
        p, given, mean, _ = best_arm_by_draws(self, context, samples, rng, None)
        return BestArm(p, given, mean, partial(bernoulli_information, p, given / self.prices, mean / self.prices))

    def fade(self, prior: Priced, decay: float) -> Priced:
        """The belief about what is bought fades."""
        return unchecked(self, belief=self._asked("fade").fade(cast(Any, prior.belief), decay))

    def __getattr__(self, name: str) -> Any:
        if name in ("n_weights", "features"):
            return getattr(self.belief, name)
        raise AttributeError(f"Priced has no attribute {name!r}")

    # For look-ahead planners -----------------------------------------------------------------------------------------

    def arm_states(self) -> ArmStates:
        """The state of each arm inside. Its index is multiplied by the price."""
        kind, state, base, scale = self._asked("arm_states").arm_states()
        return ArmStates(kind, state, self.prices * base, self.prices * scale)

    @property
    def posterior_size(self) -> int:
        """That of the belief inside."""
        return self._asked("posterior_size").posterior_size

    def reward_values(self) -> Floats:
        """Arm a pays 0 or its price, (K, 2)."""
        self._asked("reward_values")
        return np.stack([np.zeros(self.n_actions), self.prices], axis=-1)

    def posteriors_after(self, seen: Ints) -> ArmPosteriors:
        """The posteriors after seen[n, a, y] further rewards y of arm a, (N, K, 2)."""
        return self._asked("posteriors_after").posteriors_at(self.prices, seen)

    def distinct_replicates(self) -> tuple[Priced, Ints]:
        """The distinct replicates, and for each replicate which of them it is equal to."""
        some, which = self._asked("distinct_replicates").distinct_replicates()
        return unchecked(self, belief=some), which

    def some_replicates(self, part: slice) -> Priced:
        """Only these replicates."""
        return unchecked(self, belief=self._asked("some_replicates").some_replicates(part))


def _number_of_arms(belief: object) -> int | None:
    """K of the belief inside; None if each context determines it."""
    try:
        return belief.n_actions if offers(belief, ListsArms) else None
    except InvalidArgument:
        return None


def _impossible(reward: float, arm: int, price: float) -> ImpossibleEvidence:
    return ImpossibleEvidence("Priced", f"reward {reward:.9g} of arm {arm}", f"it pays 0 or its price, {price:.9g}")
