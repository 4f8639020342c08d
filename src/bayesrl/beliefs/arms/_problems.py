"""The source of beliefs about arms: a bandit's usual prior, which knows the arms and how they pay."""

from __future__ import annotations

from typing import NamedTuple, Protocol, runtime_checkable

from bayesrl.beliefs._problems import needed
from bayesrl.capabilities import (
    HasMeans,
    HasPrices,
    ListsArms,
    SamplesMeans,
    TakesFeatures,
    offers,
)
from bayesrl.checks import Floats
from bayesrl.errors import InvalidArgument
from bayesrl.problems import ChoosesSeveral, HasDiscount, MakesPrior, name_of

PRICED = "Its arms have prices: 'priced' knows them, and priced:belief=NAME learns what is bought by another belief."
"""The remedy where a belief about zeros and ones is asked for a bandit with prices."""


class Bandit(ListsArms, HasMeans, HasDiscount, Protocol):
    """A belief about the arms of a bandit."""


@runtime_checkable
class HasBetaArms(Protocol):
    """A belief about independent arms that pay 0 or 1, with a Beta distribution for each."""

    @property
    def gamma(self) -> float:
        """Discount, in [0, 1]."""

    @property
    def alpha(self) -> Floats:
        """Prior count of ones plus the number of ones seen."""

    @property
    def beta(self) -> Floats:
        """Prior count of zeros plus the number of zeros seen."""


class Coins(HasBetaArms, SamplesMeans, ListsArms, Protocol):
    """A belief about arms that pay 1 or 0."""


class Featured(TakesFeatures, HasDiscount, Protocol):
    """A belief about arms whose rewards depend on features."""


class SellsAtPrices(Protocol):
    """A bandit, or a belief about one, whose arms pay a known price or 0."""

    @property
    def prices(self) -> Floats:
        """Reward of a purchase of each arm, (K,)."""

    @property
    def coins(self) -> MakesPrior:
        """The same bandit with a reward of 1 for each purchase."""


class Noisy(Protocol):
    """A bandit, or a belief about one, that says whether noise is added to its means."""

    @property
    def noise(self) -> float | None:
        """Standard deviation of a reward; None: rewards are 0 or 1."""


class Several(NamedTuple):
    """The arguments of a belief about single arms of which several are chosen."""

    n_actions: int
    suggestions: int
    gamma: float


def usual(prior: str, problem: object) -> Bandit:
    """The usual prior of a bandit of which one arm is chosen at a time."""
    own = needed(prior, problem, MakesPrior).default_prior()
    if offers(problem, ChoosesSeveral) or not offers(own, Bandit):
        raise refusal(prior, problem, "a bandit of which one arm is chosen at a time")
    return own


def pays_amounts(prior: str, problem: object) -> Bandit:
    """The usual prior of a bandit whose rewards are not negative."""
    own = usual(prior, problem)
    if offers(own, Noisy) and own.noise is not None:
        raise refusal(prior, problem, "a bandit whose rewards are not negative")
    return own


def pays_ones(prior: str, problem: object) -> Bandit:
    """The usual prior of a bandit that pays 1 or 0."""
    own = usual(prior, problem)
    if offers(own, HasPrices):
        raise refusal(prior, problem, "a bandit that pays 1 or 0", PRICED)
    if not offers(own, Coins) and not (offers(own, Featured) and not (offers(own, Noisy) and own.noise is not None)):
        raise refusal(prior, problem, "a bandit that pays 1 or 0")
    return own


def pays_coins(prior: str, problem: object) -> Coins:
    """The usual prior of a bandit that pays 1 or 0 and has no features."""
    own = usual(prior, problem)
    if not offers(own, Coins):
        hint = PRICED if offers(own, HasPrices) else ""
        raise refusal(prior, problem, "a bandit without features that pays 1 or 0", hint)
    return own


def featured(prior: str, problem: object) -> Featured:
    """The usual prior of a bandit whose arms have known features."""
    own = usual(prior, problem)
    if not offers(own, Featured) or own.features is None:
        raise refusal(prior, problem, "a bandit whose arms have known features")
    return own


def clicked(prior: str, problem: object) -> Featured:
    """The same, of a bandit whose arms pay 1 or 0."""
    if offers(problem, Noisy) and problem.noise is not None:
        raise refusal(prior, problem, "a bandit that pays 1 or 0")
    if offers(problem, SellsAtPrices):
        raise refusal(prior, problem, "a bandit that pays 1 or 0", PRICED)
    return featured(prior, problem)


def several(prior: str, problem: object, feedback: str) -> Several:
    """The size of a bandit of which several arms are chosen at once, with this feedback."""
    bandit = needed(prior, problem, ChoosesSeveral)
    if bandit.feedback != feedback:
        raise refusal(prior, problem, f"a bandit with {feedback} feedback")
    return Several(bandit.n_actions, bandit.suggestions, bandit.gamma)


def refusal(prior: str, problem: object, expected: str, hint: str = "") -> InvalidArgument:
    """The error for a bandit of another kind."""
    return InvalidArgument(f"The prior {prior!r}", "problem", expected, name_of(problem), hint)
