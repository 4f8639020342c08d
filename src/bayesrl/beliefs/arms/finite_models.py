"""Any prior on finitely many bandits: correlated arms, two models, particles (Gopalan et al. 2014; survey §3.3).

The unknown is which of N bandits is the true one, with prior weights; Bayes' rule multiplies each weight by the
likelihood of what was seen. Arms may be correlated in any way: a reward of one arm tells about the others through the
models. A prior that cannot be listed may be sampled: N bandits drawn from it with equal weights.

What a reward says is up to the kind of models:

    BernoulliModels(means)        arm a of model i pays 1 with probability means[i, a], else 0
    GaussianModels(means, noise)  arm a of model i pays N(means[i, a], noise^2)
    OutcomeModels(values, prob)   arm a of model i pays values[y] with probability prob[i, a, y]
    BernoulliSums(means)          several arms are chosen at once, each pays 0 or 1, only the sum is seen

Liu and Li's (2015) case is `FiniteModels.two(true, false, weight)`: two arms, two models.

Deviations: none. Cost: update O(N) (sums: O(N M^2)), sample O(N). Claims: weights equal Bayes' rule by hand; sums
against enumeration; belief laws.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any, Protocol

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike
from scipy import special

from bayesrl.beliefs._log import Log, columns
from bayesrl.beliefs.arms._arms import chosen, paid, unchecked
from bayesrl.checks import Floats, array, frozen, integer, number, rows_sum_to_one
from bayesrl.core import Transition
from bayesrl.errors import ImpossibleEvidence, InvalidArgument
from bayesrl.parameters import value
from bayesrl.registry import register


class Models(Protocol):
    """Finitely many bandits: the arms' mean rewards and what a reward says about which bandit it came from."""

    @property
    def means(self) -> Floats:
        """Mean reward of arm a in model i, shape (N, K)."""

    def log_likelihood(self, owner: str, action: Any, reward: Any, replicates: tuple[int, ...]) -> Floats:
        """Log likelihood of the reward under each model, (N,) or (replicates, N)."""


@register(
    "finite-models",
    kind="belief",
    survey="3.3",
    paper="Gopalan14TS",
    example=lambda: FiniteModels(BernoulliModels(np.array([[0.1, 0.6, 0.3], [0.7, 0.2, 0.5], [0.4, 0.4, 0.8]]))),
    evidence=(
        "tests/beliefs/test_finite_models.py::test_weights_are_bayes_rule",
        "tests/beliefs/test_finite_models.py::test_sums_match_enumeration",
        "tests/beliefs/test_laws.py::test_belief_laws",
    ),
)
@value
class FiniteModels:
    """A bandit that is one of finitely many, with a weight for each."""

    models: Models
    """The bandits."""
    weights: Floats | None = None
    """Prior probability of each, shape (N,) or (replicates, N); None: equal."""
    gamma: float = 1.0
    """Discount."""
    log_joint: Floats = field(init=False, repr=False)
    """Log of prior weight times likelihood of all that was seen, the shape of the weights."""

    def __post_init__(self) -> None:
        owner, set_ = "FiniteModels", object.__setattr__
        N = len(self.models.means)
        w = array(owner, "weights", np.full(N, 1.0 / N) if self.weights is None else self.weights, low=0.0)
        if w.ndim not in (1, 2) or w.shape[-1] != N:
            raise InvalidArgument(owner, "weights", f"of shape ({N},)", w)
        w = rows_sum_to_one(owner, "weights", w, self.weights)
        set_(self, "weights", w)
        set_(self, "gamma", number(owner, "gamma", self.gamma, 0.0, 1.0))
        with np.errstate(divide="ignore"):
            set_(self, "log_joint", frozen(np.log(w)))

    @classmethod
    def two(cls, true: ArrayLike, false: ArrayLike, weight: float, gamma: float = 1.0) -> FiniteModels:
        """Liu and Li's prior: Bernoulli means `true` with this weight, else `false`.

        >>> belief = FiniteModels.two([0.5, 0.8], [0.5, 0.3], 0.2)
        >>> belief.update(Transition(0, 1, 1.0, 0)).posterior()
        array([0.4, 0.6])
        """
        p = number("FiniteModels.two", "weight", weight, 0.0, 1.0)
        return cls(BernoulliModels(np.array([true, false])), np.array([p, 1.0 - p]), gamma)

    def batch(self, replicates: int) -> FiniteModels:
        """So many experiments side by side."""
        n = integer("FiniteModels.batch", "replicates", replicates, 1)
        if self.log_joint.ndim != 1:
            raise InvalidArgument("FiniteModels.batch", "belief", "of a single experiment", self.log_joint)
        weights, joint = (frozen(np.tile(np.asarray(x), (n, 1))) for x in (self.weights, self.log_joint))
        return unchecked(self, weights=weights, log_joint=joint)

    # Learning --------------------------------------------------------------------------------------------------------

    def update(self, datum: Transition, rng: Generator | None = None) -> FiniteModels:
        """The posterior after a choice and its reward (or one of each for every replicate)."""
        replicates = self.log_joint.shape[:-1]
        each = self.models.log_likelihood("FiniteModels.update", datum.action, datum.reward, replicates)
        joint = self.log_joint + each
        if np.any(np.max(joint, axis=-1) == -np.inf):
            seen = f"reward {datum.reward} of {datum.action}"
            raise ImpossibleEvidence("FiniteModels", seen, "no model that is still possible gives it")
        return unchecked(self, log_joint=frozen(joint))

    def update_many(self, log: Log) -> FiniteModels:
        """The posterior after a log of choices and rewards."""
        new = self
        for action, reward in zip(*columns("FiniteModels.update_many", log, "action", "reward"), strict=True):
            new = new.update(Transition(0, action, reward, 0))
        return new

    # What planners ask -----------------------------------------------------------------------------------------------

    n_actions = property(lambda self: self.models.means.shape[1], doc="K.")

    def posterior(self) -> Floats:
        """Posterior probability of each model."""
        return np.asarray(special.softmax(self.log_joint, axis=-1))

    def sample_means(self, context: object, rng: Generator) -> Floats:
        """Mean rewards of the arms in a model drawn from the belief."""
        below = np.cumsum(self.posterior(), axis=-1)
        u = rng.random(below.shape[:-1]) * below[..., -1]
        model = np.sum(below <= u[..., None] if below.ndim == 2 else below <= u, axis=-1)
        return np.asarray(self.models.means[model])

    def mean(self, context: object = None) -> Floats:
        """Expected reward of each arm."""
        return self.posterior() @ self.models.means

    def variance(self, context: object = None) -> Floats:
        """Posterior variance of each arm's mean reward."""
        w, mean = self.posterior(), self.mean()
        return np.asarray(np.einsum("...i,...ik->...k", w, (self.models.means - mean[..., None, :]) ** 2))

    def quantile(self, p: float, context: object = None) -> Floats:
        """The least of each arm's mean rewards below which, itself included, lies probability p."""
        order = np.argsort(self.models.means, axis=0)  # (N, K)
        below = np.cumsum(self.posterior()[..., order], axis=-2)
        first = np.argmax(below >= p * below[..., -1:, :], axis=-2)  # (..., K)
        K = np.arange(self.n_actions)
        return np.asarray(self.models.means[order[first, K], K])

    def log_evidence(self) -> Floats:
        """log P(rewards | choices) under the prior, for each replicate."""
        return np.asarray(special.logsumexp(self.log_joint, axis=-1))


# Kinds of models -----------------------------------------------------------------------------------------------------


@value
class BernoulliModels:
    """Arms that pay 1 or 0."""

    means: Floats
    """Probability that arm a of model i pays, shape (N, K)."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "means", _probabilities("BernoulliModels", self.means))

    def log_likelihood(self, owner: str, action: Any, reward: Any, replicates: tuple[int, ...]) -> Floats:
        """Log likelihood of the reward under each model."""
        p, y = self.means.T[_arm(owner, action, replicates, self.means.shape[1])], _reward(owner, reward, replicates)
        with np.errstate(divide="ignore"):
            return np.asarray(np.where(y == 1.0, np.log(p), np.where(y == 0.0, np.log1p(-p), -np.inf)))


@value
class GaussianModels:
    """Arms with Gaussian rewards of known variance."""

    means: Floats
    """Mean reward of arm a in model i, shape (N, K)."""
    noise: float = 1.0
    """Standard deviation of a reward."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "means", array("GaussianModels", "means", self.means, (None, None)))
        object.__setattr__(self, "noise", number("GaussianModels", "noise", self.noise, 0.0, above=True))

    def log_likelihood(self, owner: str, action: Any, reward: Any, replicates: tuple[int, ...]) -> Floats:
        """Log likelihood of the reward under each model."""
        m, x = self.means.T[_arm(owner, action, replicates, self.means.shape[1])], _reward(owner, reward, replicates)
        return np.asarray(-0.5 * ((x - m) / self.noise) ** 2 - 0.5 * np.log(2.0 * np.pi * self.noise**2))


@value
class OutcomeModels:
    """Arms that pay one of finitely many amounts."""

    values: Floats
    """What can be paid, shape (Y,), all different."""
    prob: Floats
    """Probability that arm a of model i pays values[y], shape (N, K, Y)."""
    means: Floats = field(init=False, repr=False)
    """Mean reward of arm a in model i, shape (N, K)."""

    def __post_init__(self) -> None:
        values = array("OutcomeModels", "values", self.values, (None,))
        prob = array("OutcomeModels", "prob", self.prob, (None, None, len(values)), low=0.0)
        prob = rows_sum_to_one("OutcomeModels", "prob", prob, self.prob)
        if len(np.unique(values)) < len(values):
            raise InvalidArgument("OutcomeModels", "values", "all different", values.tolist())
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "prob", prob)
        object.__setattr__(self, "means", frozen(prob @ values))

    def log_likelihood(self, owner: str, action: Any, reward: Any, replicates: tuple[int, ...]) -> Floats:
        """Log likelihood of the reward under each model."""
        p = np.swapaxes(self.prob, 0, 1)[_arm(owner, action, replicates, self.means.shape[1])]  # (..., N, Y)
        hit = self.values == _reward(owner, reward, replicates)[..., None]  # (..., 1, Y)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(np.sum(p * hit, axis=-1)))


@value
class BernoulliSums:
    """Several arms at once, each paying 1 or 0, of which only the sum is seen (full-bandit feedback)."""

    means: Floats
    """Probability that arm a of model i pays, shape (N, K)."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "means", _probabilities("BernoulliSums", self.means))

    def log_likelihood(self, owner: str, action: Any, reward: Any, replicates: tuple[int, ...]) -> Floats:
        """Log probability of the sum under each model: a Poisson-binomial, one arm folded in after the other."""
        chosen = np.asarray(action)
        K = self.means.shape[1]
        if (
            chosen.dtype.kind not in "iu"
            or chosen.shape[:-1] != replicates
            or not 0 <= chosen.min() <= chosen.max() < K
        ):
            raise InvalidArgument(owner, "action", f"sets of arms from 0 to {K - 1}", action)
        p = self.means.T[chosen]  # (..., M, N)
        M = p.shape[-2]
        mass = np.zeros((*p.shape[:-2], M + 1, p.shape[-1]))
        mass[..., 0, :] = 1.0
        for j in range(M):
            q = p[..., j, None, :]
            mass[..., 1:, :] = mass[..., 1:, :] * (1.0 - q) + mass[..., :-1, :] * q
            mass[..., 0, :] *= 1.0 - q[..., 0, :]
        hit = np.arange(M + 1.0)[:, None] == _reward(owner, reward, replicates)[..., None]  # (..., M + 1, 1)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(np.sum(mass * hit, axis=-2)))


def _probabilities(owner: str, means: ArrayLike) -> Floats:
    p = array(owner, "means", means, (None, None), low=0.0)
    if p.max() > 1.0:
        raise InvalidArgument(owner, "means", "at most 1 everywhere", float(p.max()))
    return p


def _arm(owner: str, action: Any, replicates: tuple[int, ...], K: int) -> Any:
    where = chosen(owner, (*replicates, K), action)
    return where % K if replicates else where


def _reward(owner: str, reward: Any, replicates: tuple[int, ...]) -> Floats:
    """The reward with an axis for the models: (1,) or (replicates, 1)."""
    return np.asarray(paid(owner, (*replicates, 1), reward), np.float64)[..., None]
