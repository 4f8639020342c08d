"""Forgetting, for rewards that drift (an addition of ours; survey §3.3 assumes that they do not).

Customers' tastes change, and a belief that never forgets takes ever longer to notice. Around a belief in the
exponential family: before each update what was learned so far fades towards the prior by a factor `keep`, in natural
parameters lambda,

    lambda' = lambda_0 + keep (lambda - lambda_0),    then Bayes' rule for the new reward.

A reward that came n updates ago counts keep^n, so that the belief never rests on more than 1 / (1 - keep) rewards; all
arms fade, those not played back to their prior, and so will be tried again. Natural parameters are the counts of a
Beta, shape and rate of a gamma, precision and precision times mean of a Gaussian (a matrix and a vector for linear and
logistic arms), and for unknown variance also a and b + kappa m^2 / 2.

`log_evidence` adds up how well each reward was predicted before it came. On one log, the `keep` with the largest is the
one that would have predicted best: so it can be chosen.

Deviations: none, there is no paper. Cost: that of the update inside and O(K); linear and logistic-laplace arms O(d^3).
Claims: equal to weighting each reward by keep^n, computed in one go; keep = 1 changes nothing; Thompson sampling loses
less where means switch. (Bayes-UCB may lose more: its quantiles rise with time and keep it trying anyway.)
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any

import numpy as np
from numpy.random import Generator

from bayesrl.beliefs._log import Log, transitions
from bayesrl.beliefs.arms._arms import unchecked
from bayesrl.beliefs.arms.beta_bernoulli import BetaBernoulli
from bayesrl.beliefs.arms.exponential_arm import ExponentialArm
from bayesrl.beliefs.arms.linear_gaussian_arms import LinearGaussianArms
from bayesrl.beliefs.arms.logistic_arms import LogisticArms
from bayesrl.beliefs.arms.logistic_laplace_arms import LogisticLaplaceArms
from bayesrl.beliefs.arms.normal_arm import NormalArm
from bayesrl.beliefs.arms.normal_gamma_arm import NormalGammaArm
from bayesrl.beliefs.arms.poisson_arm import PoissonArm
from bayesrl.checks import Floats, frozen, number, same
from bayesrl.core import Transition
from bayesrl.errors import InvalidArgument
from bayesrl.parameters import value
from bayesrl.registry import register

READINGS = ("gamma", "n_actions", "features", "sample_means", "mean", "variance", "quantile", "plays", "average")
"""What is asked of the belief inside, where it has them; counts and averages are the faded ones."""


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
    """A belief whose evidence fades towards its prior with every update, for rewards that drift."""

    belief: Any
    """What is believed now."""
    prior: Any = None
    """What it fades towards, a belief of the same class; None: the belief as it is given."""
    keep: float = 0.99
    """Share of the evidence that is kept at each update, in (0, 1]."""
    evidence: Floats = field(init=False, repr=False)
    """Log probability of the rewards seen, each as it was predicted just before it came."""

    def __post_init__(self) -> None:
        owner, set_ = "Forgetting", object.__setattr__
        if type(self.belief) not in FADES:
            expected = "one of " + ", ".join(kind.__name__ for kind in FADES)
            raise InvalidArgument(owner, "belief", expected, type(self.belief).__name__)
        prior = self.belief if self.prior is None else self.prior
        if not _alike(self.belief, prior):
            raise InvalidArgument(owner, "prior", "a belief of the same class, size and settings", prior)
        prior = dataclasses.replace(prior)  # as nobody has updated it: plays are counted from here
        set_(self, "prior", prior)
        if "prior" in vars(prior):
            set_(self, "belief", unchecked(self.belief, prior=prior.prior))
        set_(self, "keep", number(owner, "keep", self.keep, 0.0, 1.0, above=True))
        first = getattr(prior, dataclasses.fields(prior)[0].name)
        set_(self, "evidence", frozen(np.zeros(first.shape[:-1])))

    def batch(self, replicates: int) -> Forgetting:
        """So many experiments side by side."""
        belief, prior = self.belief.batch(replicates), self.prior.batch(replicates)
        return self._with(belief=belief, prior=prior, evidence=frozen(np.full(replicates, self.evidence)))

    def update(self, datum: Transition, rng: Generator | None = None) -> Forgetting:
        """Fade, then learn from a choice and its reward (or one of each for every replicate)."""
        faded = self.belief if self.keep == 1.0 else FADES[type(self.belief)](self.belief, self.prior, self.keep)
        learnt = faded.update(datum, rng)
        evidence = np.asarray(self.evidence + _log_predictive(faded, learnt, datum))
        return self._with(belief=learnt, evidence=frozen(evidence))

    def update_many(self, log: Log) -> Forgetting:
        """The belief after a log, oldest first: every row is one update."""
        new = self
        for datum in transitions("Forgetting.update_many", log, "action", "reward"):
            new = new.update(datum)
        return new

    def log_evidence(self) -> Floats:
        """Log probability (or density) of the rewards, each as it was predicted just before it came."""
        return self.evidence

    def _with(self, **changed: Any) -> Forgetting:
        new = object.__new__(Forgetting)
        new.__dict__.update(self.__dict__, **changed)
        return new

    def __getattr__(self, name: str) -> Any:
        if name in READINGS:
            return getattr(self.belief, name)
        raise AttributeError(f"Forgetting has no attribute {name!r}")


# How evidence fades ---------------------------------------------------------------------------------------------------


def fade_counts(*names: str) -> Callable[[Any, Any, float], Any]:
    """Parameters that are natural ones as they stand: counts, shapes, rates."""

    def fade(belief: Any, prior: Any, keep: float) -> Any:
        pairs = {name: (getattr(prior, name), getattr(belief, name)) for name in names}
        return unchecked(belief, **{name: frozen((1.0 - keep) * x0 + keep * x) for name, (x0, x) in pairs.items()})

    return fade


def fade_normal(belief: NormalArm, prior: NormalArm, keep: float) -> NormalArm:
    """kappa and kappa m; the squares that the evidence needs follow the same weights."""
    kappa, m, squares = _mixed(belief.strength, belief.mean_, prior.strength, prior.mean_, keep)
    return unchecked(belief, mean_=m, strength=kappa, spread=frozen(keep * belief.spread + squares))


def fade_normal_gamma(belief: NormalGammaArm, prior: NormalGammaArm, keep: float) -> NormalGammaArm:
    """kappa, kappa m, a, and b + kappa m^2 / 2, the last read back as b: never less than the mixture of the two b."""
    kappa, m, squares = _mixed(belief.strength, belief.mean_, prior.strength, prior.mean_, keep)
    shape, rate = ((1.0 - keep) * x0 + keep * x for x0, x in ((prior.shape, belief.shape), (prior.rate, belief.rate)))
    return unchecked(belief, mean_=m, strength=kappa, shape=frozen(shape), rate=frozen(rate + 0.5 * squares))


def fade_independent(belief: LogisticArms, prior: LogisticArms, keep: float) -> LogisticArms:
    """Precision and precision times mean of each weight."""
    q, m, _ = _mixed(belief.precision, belief.mean_, prior.precision, prior.mean_, keep)
    return unchecked(belief, mean_=m, precision=q)


def fade_gaussian(belief: Any, prior: Any, keep: float) -> Any:
    """The precision matrix and its product with the mean, for a covariance given by its square root S.

    With W = S^-1 the precision is W' W, so that the mixture's is that of the two W stacked, each times the square root
    of its weight: a least-squares problem, solved by QR without ever squaring a condition number.
    """
    old, new = np.sqrt(1.0 - keep), np.sqrt(keep)
    W0, W = old * np.linalg.inv(prior.root), new * np.linalg.inv(belief.root)
    target = np.concatenate([W0 @ prior.mean_[..., None], W @ belief.mean_[..., None]], axis=-2)
    Q, R = np.linalg.qr(np.concatenate([W0, W], axis=-2))
    root = np.linalg.inv(R)
    m = root @ (np.swapaxes(Q, -1, -2) @ target)
    return unchecked(belief, mean_=frozen(m[..., 0]), root=frozen(root))


def _mixed(kappa: Floats, m: Floats, kappa0: Floats, m0: Floats, keep: float) -> tuple[Floats, Floats, Floats]:
    """Precision and mean of the mixture, and what the mean squares exceed the mixture's square by, times precision."""
    mixed = (1.0 - keep) * kappa0 + keep * kappa
    back = (1.0 - keep) * kappa0 / mixed
    return frozen(mixed), frozen(m + back * (m0 - m)), keep * kappa * back * (m - m0) ** 2


FADES: Mapping[type, Callable[[Any, Any, float], Any]] = {
    BetaBernoulli: fade_counts("alpha", "beta"),
    PoissonArm: fade_counts("shape", "rate", "factorials"),
    ExponentialArm: fade_counts("shape", "rate"),
    NormalArm: fade_normal,
    NormalGammaArm: fade_normal_gamma,
    LinearGaussianArms: fade_gaussian,
    LogisticArms: fade_independent,
    LogisticLaplaceArms: fade_gaussian,
}


# What comes in -------------------------------------------------------------------------------------------------------


def _alike(belief: Any, prior: Any) -> bool:
    """Whether two beliefs differ in the numbers they have learned only."""
    if type(belief) is not type(prior):
        return False
    for f in (f for f in dataclasses.fields(belief) if f.init):
        x, y = getattr(belief, f.name), getattr(prior, f.name)
        if not (np.shape(x) == np.shape(y) if np.ndim(x) and f.name != "features" else same(x, y)):
            return False
    return True


def _log_predictive(before: Any, after: Any, datum: Transition) -> Floats:
    """How probable the reward was; where a belief keeps no evidence, rewards are 0 or 1 and the mean says it."""
    if hasattr(before, "log_evidence"):
        return np.asarray(after.log_evidence() - before.log_evidence())
    p = before.mean(datum.observation)
    chance = np.take_along_axis(p, np.asarray(datum.action)[..., None], axis=-1)[..., 0]
    return np.asarray(np.where(np.asarray(datum.reward) == 1.0, np.log(chance), np.log1p(-chance)))
