"""Forgetting, for rewards that drift (our addition; survey §3.3 assumes that they do not).

A belief that never forgets takes longer and longer to notice a change. This belief wraps one in the exponential family.
Before each update, its natural parameters lambda move towards those of the prior by a factor `decay`:

    lambda' = lambda_0 + decay (lambda - lambda_0),    then Bayes' rule for the new reward.

A reward from n updates ago has weight decay^n, so the effective sample size is at most 1 / (1 - decay). All arms fade.
An arm that is not played fades back to its prior, and so it is tried again. Natural parameters are the counts of a
Beta, shape and rate of a gamma, precision and precision times mean of a Gaussian (a matrix and a vector for linear and
logistic arms), and for unknown variance also a and b + kappa m^2 / 2.

`log_evidence` is the sum of the log predictive probabilities of the rewards, each computed before its reward. To choose
`decay`, compare these sums on one log: the `decay` with the largest sum predicts best.

Deviations: none, there is no paper. Cost: that of the update inside and O(K); linear and logistic-laplace arms O(d^3).
Claims: equal to the posterior with each reward weighted by decay^n; decay = 1 changes nothing; Thompson sampling has
less regret if means switch. (Bayes-UCB may have more: its quantiles rise with time, so that it explores anyway.)
"""

from __future__ import annotations

import dataclasses
from dataclasses import field
from typing import Annotated, Any, Protocol, Self, runtime_checkable

import numpy as np
from numpy.random import Generator

from bayesrl.beliefs.arms._problems import usual
from bayesrl.beliefs.arms.arms import unchecked
from bayesrl.beliefs.arms.beta_bernoulli import BetaBernoulli
from bayesrl.beliefs.log import Log, transitions
from bayesrl.capabilities import Batches, HasLogEvidence, HasMeans, lacking, offers
from bayesrl.checks import Floats, frozen, same
from bayesrl.core import Belief, Transition
from bayesrl.errors import Incompatible, InvalidArgument
from bayesrl.parameters import Within, value
from bayesrl.registry import register

READINGS = (
    "gamma",
    "n_actions",
    "n_weights",
    "features",
    "sample_means",
    "mean",
    "variance",
    "quantile",
    "plays",
    "average",
    "best_arm",
    "tells_information",
    "pays_ones",
)
"""Members of the wrapped belief that are passed on, if it has them. Plays and averages are the faded ones."""


@runtime_checkable
class Fades(Protocol):
    """A belief in the exponential family, whose data can be down-weighted."""

    def fade(self, prior: Self, decay: float) -> Self:
        """The belief with natural parameters (1 - decay) prior + decay own."""


@runtime_checkable
class Sells(Protocol):
    """A belief with prices, around one about what is bought."""

    @property
    def belief(self) -> Any:
        """The belief about what is bought."""

    def as_purchase(self, datum: Transition) -> Transition:
        """The datum with a reward of 0 or 1."""


class Inside(Fades, HasMeans, Batches, Belief[Transition], Protocol):
    """A belief about arms that can fade."""


Decay = Annotated[float, Within(0.0, 1.0, open_low=True), "Weight of earlier rewards that is kept at each update."]


def prior_for(problem: object, decay: Decay = 0.99) -> Forgetting:
    """The usual prior of a bandit, which fades."""
    own = usual("forgetting", problem)
    if not offers(own, Inside):
        raise Incompatible("The prior 'forgetting'", type(own).__name__, lacking(own, Inside))
    return Forgetting(own, decay=decay)


@register(
    "forgetting",
    kind="belief",
    survey="3.3",
    example=lambda: Forgetting(BetaBernoulli(np.array([0.8, 1.5, 2.0]), np.array([1.3, 1.0, 0.7])), decay=0.98),
    prior_for=prior_for,
    evidence=(
        "tests/beliefs/arms/test_forgetting.py::test_weights_each_reward_by_its_age",
        "tests/beliefs/arms/test_forgetting.py::test_keeping_all_changes_nothing",
        "tests/beliefs/arms/test_forgetting.py::test_less_regret_where_means_switch",
        "tests/beliefs/test_laws.py::test_belief_laws",
    ),
)
@value
class Forgetting:
    """A belief that fades towards its prior at every update, for rewards that drift.

    Examples
    --------
    >>> belief = Forgetting(BetaBernoulli.uniform(2), decay=0.5)
    >>> for reward in (1.0, 1.0, 0.0):
    ...     belief = belief.update(Transition(0, action=1, reward=reward, next_observation=0))
    >>> belief.plays()
    array([0.  , 1.75])
    """

    belief: Annotated[Inside, "The current belief."]
    prior: Annotated[Inside | None, "The belief to fade towards, of the same class; None for the belief itself."] = None
    decay: Decay = 0.99
    evidence: Floats = field(init=False, repr=False)
    """Sum of the log predictive probabilities of the rewards."""

    def __post_init__(self) -> None:
        owner, set_ = "Forgetting", object.__setattr__
        missing = lacking(self.belief, Inside)
        if missing:
            expected = "a belief about arms that can fade (" + ", ".join(missing) + ")"
            raise InvalidArgument(owner, "belief", expected, type(self.belief).__name__)
        prior = self.belief if self.prior is None else self.prior
        if not _alike(self.belief, prior):
            raise InvalidArgument(owner, "prior", "a belief of the same class, size and settings", prior)
        prior = dataclasses.replace(prior)  # type: ignore[type-var]  # without data, so that plays count from here
        set_(self, "prior", prior)
        set_(self, "belief", _from(prior, self.belief))
        set_(self, "evidence", frozen(np.zeros(_replicates(prior))))

    def batch(self, replicates: int) -> Forgetting:
        """The same belief for each of several replicates in lockstep."""
        assert self.prior is not None
        belief, prior = self.belief.batch(replicates), self.prior.batch(replicates)
        return unchecked(self, belief=belief, prior=prior, evidence=frozen(np.full(replicates, self.evidence)))

    def update(self, datum: Transition, rng: Generator | None = None) -> Forgetting:
        """Fade, then learn from a choice and its reward (or one of each for every replicate)."""
        assert self.prior is not None
        faded = self.belief if self.decay == 1.0 else self.belief.fade(self.prior, self.decay)
        learnt = faded.update(datum, rng)
        evidence = np.asarray(self.evidence + _log_predictive(faded, learnt, datum))
        return unchecked(self, belief=learnt, evidence=frozen(evidence))

    def update_many(self, log: Log, rng: Generator | None = None) -> Forgetting:
        """The belief after a log, oldest first. Every row is one update."""
        new = self
        for datum in transitions("Forgetting.update_many", log, "action", "reward"):
            new = new.update(datum, rng)
        return new

    def log_evidence(self) -> Floats:
        """Sum of the log predictive probabilities (or densities) of the rewards."""
        return self.evidence

    def __getattr__(self, name: str) -> Any:
        if name in READINGS:
            return getattr(self.belief, name)
        raise AttributeError(f"Forgetting has no attribute {name!r}")


# Helpers -------------------------------------------------------------------------------------------------------------


def _alike(one: Any, prior: Any) -> bool:
    """Whether two beliefs differ only in the numbers that they have learned."""
    if type(one) is not type(prior):
        return False
    for f in (f for f in dataclasses.fields(type(one)) if f.init):
        x, y = getattr(one, f.name), getattr(prior, f.name)
        if not (np.shape(x) == np.shape(y) if np.ndim(x) and f.name != "features" else same(x, y)):
            return False
    return True


def _from(prior: Any, own: Any) -> Any:
    """The belief, whose plays count from the prior. A belief with prices has that of its purchases."""
    if offers(prior, Sells):
        return unchecked(own, belief=_from(dataclasses.replace(prior.belief), own.belief))
    if "prior_parameters" in vars(prior):
        return unchecked(own, prior_parameters=vars(prior)["prior_parameters"])
    return own


def _replicates(own: Any) -> tuple[int, ...]:
    """The axes of replicates of a belief."""
    first = getattr(own, dataclasses.fields(own)[0].name)
    return np.shape(first)[:-1] if isinstance(first, np.ndarray) else _replicates(first)


def _log_predictive(before: Any, after: Any, datum: Transition) -> Floats:
    """The log predictive probability of the reward. A belief without evidence has rewards 0 or 1; its mean gives it."""
    if offers(before, Sells):
        return _log_predictive(before.belief, after.belief, before.as_purchase(datum))
    if offers(before, HasLogEvidence):
        return np.asarray(after.log_evidence() - before.log_evidence())
    p = before.mean(datum.observation)
    chance = np.take_along_axis(p, np.asarray(datum.action)[..., None], axis=-1)[..., 0]
    return np.asarray(np.where(np.asarray(datum.reward) == 1.0, np.log(chance), np.log1p(-chance)))
