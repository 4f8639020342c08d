"""Forgetting, for rewards that drift (an addition of ours; survey §3.3 assumes that they do not).

Customers' tastes change, and a belief that never forgets takes ever longer to notice. This belief wraps one in the
exponential family. Before each update, what was learned so far fades towards the prior by a factor `keep`, in natural
parameters lambda:

    lambda' = lambda_0 + keep (lambda - lambda_0),    then Bayes' rule for the new reward.

A reward that came n updates ago counts keep^n, so the effective sample size is at most 1 / (1 - keep). All arms fade.
An arm that is not played fades back to its prior, and so it is tried again. Natural parameters are the counts of a
Beta, shape and rate of a gamma, precision and precision times mean of a Gaussian (a matrix and a vector for linear and
logistic arms), and for unknown variance also a and b + kappa m^2 / 2.

`log_evidence` is the sum of the log probabilities with which rewards were predicted before they came. On one log, the
`keep` with the largest sum would have predicted best. So `keep` can be chosen.

Deviations: none, there is no paper. Cost: that of the update inside and O(K); linear and logistic-laplace arms O(d^3).
Claims: equal to weighting each reward by keep^n, computed in one go; keep = 1 changes nothing; Thompson sampling loses
less if means switch. (Bayes-UCB may lose more: its quantiles rise with time, which keeps it exploring anyway.)
"""

from __future__ import annotations

import dataclasses
from dataclasses import field
from typing import Annotated, Any, Protocol

import numpy as np
from numpy.random import Generator

from bayesrl.beliefs._log import Log, transitions
from bayesrl.beliefs.arms._arms import unchecked
from bayesrl.beliefs.arms.beta_bernoulli import BetaBernoulli
from bayesrl.capabilities import Batches, Fades, HasMeans, lacking
from bayesrl.checks import Floats, frozen, same
from bayesrl.core import Belief, Transition
from bayesrl.errors import InvalidArgument
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
)
"""What is asked of the belief inside, if it has them. Plays and averages are the faded ones."""


class Inside(Fades, HasMeans, Batches, Belief[Transition], Protocol):
    """A belief about arms that can fade."""


@register(
    "forgetting",
    kind="belief",
    survey="3.3",
    example=lambda: Forgetting(BetaBernoulli(np.array([0.8, 1.5, 2.0]), np.array([1.3, 1.0, 0.7])), keep=0.98),
    evidence=(
        "tests/beliefs/test_forgetting.py::test_weights_each_reward_by_its_age",
        "tests/beliefs/test_forgetting.py::test_keeping_all_changes_nothing",
        "tests/beliefs/test_forgetting.py::test_less_regret_where_means_switch",
        "tests/beliefs/test_laws.py::test_belief_laws",
    ),
)
@value
class Forgetting:
    """A belief whose evidence fades towards its prior with every update, for rewards that drift.

    Examples
    --------
    >>> belief = Forgetting(BetaBernoulli.uniform(2), keep=0.5)
    >>> for reward in (1.0, 1.0, 0.0):
    ...     belief = belief.update(Transition(0, action=1, reward=reward, next_observation=0))
    >>> belief.plays()
    array([0.  , 1.75])
    """

    belief: Annotated[Inside, "What is believed now."]
    prior: Annotated[Inside | None, "What it fades towards, a belief of the same class; None: the belief itself."] = (
        None
    )
    keep: Annotated[float, Within(0.0, 1.0, open_low=True), "Share of the evidence that is kept at each update."] = 0.99
    evidence: Floats = field(init=False, repr=False)
    """Log probability of the rewards seen, each as it was predicted just before it came."""

    def __post_init__(self) -> None:
        owner, set_ = "Forgetting", object.__setattr__
        missing = lacking(self.belief, Inside)
        if missing:
            expected = "a belief about arms that can fade (" + ", ".join(missing) + ")"
            raise InvalidArgument(owner, "belief", expected, type(self.belief).__name__)
        prior = self.belief if self.prior is None else self.prior
        if not _alike(self.belief, prior):
            raise InvalidArgument(owner, "prior", "a belief of the same class, size and settings", prior)
        prior = dataclasses.replace(prior)  # type: ignore[type-var]  # as before any update: plays count from here
        set_(self, "prior", prior)
        if "prior" in vars(prior):
            set_(self, "belief", unchecked(self.belief, prior=vars(prior)["prior"]))
        first = getattr(prior, dataclasses.fields(prior)[0].name)  # type: ignore[arg-type]
        set_(self, "evidence", frozen(np.zeros(first.shape[:-1])))

    def batch(self, replicates: int) -> Forgetting:
        """The same belief for each of several replicates in lockstep."""
        assert self.prior is not None
        belief, prior = self.belief.batch(replicates), self.prior.batch(replicates)
        return unchecked(self, belief=belief, prior=prior, evidence=frozen(np.full(replicates, self.evidence)))

    def update(self, datum: Transition, rng: Generator | None = None) -> Forgetting:
        """Fade, then learn from a choice and its reward (or one of each for every replicate)."""
        assert self.prior is not None
        faded = self.belief if self.keep == 1.0 else self.belief.fade(self.prior, self.keep)
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
        """Log probability (or density) of the rewards, each as it was predicted just before it came."""
        return self.evidence

    def __getattr__(self, name: str) -> Any:
        if name in READINGS:
            return getattr(self.belief, name)
        raise AttributeError(f"Forgetting has no attribute {name!r}")


# What comes in -------------------------------------------------------------------------------------------------------


def _alike(one: Any, prior: Any) -> bool:
    """Whether two beliefs differ only in the numbers that they have learned."""
    if type(one) is not type(prior):
        return False
    for f in (f for f in dataclasses.fields(type(one)) if f.init):
        x, y = getattr(one, f.name), getattr(prior, f.name)
        if not (np.shape(x) == np.shape(y) if np.ndim(x) and f.name != "features" else same(x, y)):
            return False
    return True


def _log_predictive(before: Any, after: Any, datum: Transition) -> Floats:
    """The log probability of the reward. If a belief keeps no evidence, rewards are 0 or 1 and the mean gives it."""
    if hasattr(before, "log_evidence"):
        return np.asarray(after.log_evidence() - before.log_evidence())
    p = before.mean(datum.observation)
    chance = np.take_along_axis(p, np.asarray(datum.action)[..., None], axis=-1)[..., 0]
    return np.asarray(np.where(np.asarray(datum.reward) == 1.0, np.log(chance), np.log1p(-chance)))
