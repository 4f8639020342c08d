"""Finitely many bandits, and the likelihood of a reward in each of them (`finite_models.py`).

BernoulliModels(means)        arm a of model i pays 1 with probability means[i, a], else 0
GaussianModels(means, noise)  arm a of model i pays N(means[i, a], noise^2)
OutcomeModels(values, prob)   arm a of model i pays values[y] with probability prob[i, a, y]
BernoulliSums(means)          several arms are chosen at once, each pays 0 or 1, and only the sum is observed
"""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from bayesrl.beliefs.arms.arms import arm_index, check_reward, check_set
from bayesrl.beliefs.arms.best_arm import Law
from bayesrl.checks import Floats, array, frozen, rows_sum_to_one
from bayesrl.errors import InvalidArgument
from bayesrl.parameters import Above, AtLeast, Shape, value


@runtime_checkable
class Models(Protocol):
    """Finitely many bandits: the arms' mean rewards, and the likelihood of a reward in each bandit."""

    @property
    def means(self) -> Floats:
        """Mean reward of arm a in model i, shape (N, K)."""

    @property
    def law(self) -> Law:
        """The distribution of a reward given its mean."""

    @property
    def deviation(self) -> float | None:
        """A standard deviation for which every reward is sub-Gaussian; None if it depends on the action."""

    @property
    def table(self) -> tuple[Floats, Floats] | None:
        """The possible rewards, (Y,), and their probabilities, (N, K, Y); None if rewards cannot be listed."""

    def log_likelihood(self, owner: str, action: Any, reward: Any, replicates: tuple[int, ...]) -> Floats:
        """Log likelihood of the reward under each model, (N,) or (replicates, N)."""


@value
class BernoulliModels:
    """Arms that pay 1 or 0."""

    means: Annotated[Floats, AtLeast(0.0), Shape("(N, K)"), "Probability that arm a of model i pays."]

    law: ClassVar[Law] = "bernoulli"
    deviation: ClassVar[float | None] = 0.5

    def __post_init__(self) -> None:
        _check_probabilities("BernoulliModels", self.means)

    @property
    def table(self) -> tuple[Floats, Floats]:
        """0 and 1, and their probabilities, (N, K, 2)."""
        return np.array([0.0, 1.0]), np.stack([1.0 - self.means, self.means], axis=-1)

    def log_likelihood(self, owner: str, action: Any, reward: Any, replicates: tuple[int, ...]) -> Floats:
        """Log likelihood of the reward under each model."""
        p, y = self.means.T[_arm(owner, action, replicates, self.means.shape[1])], _reward(owner, reward, replicates)
        with np.errstate(divide="ignore"):
            return np.asarray(np.where(y == 1.0, np.log(p), np.where(y == 0.0, np.log1p(-p), -np.inf)))


@value
class GaussianModels:
    """Arms with Gaussian rewards of known variance."""

    means: Annotated[Floats, Shape("(N, K)"), "Mean reward of arm a in model i."]
    noise: Annotated[float, Above(0.0), "Standard deviation of a reward."] = 1.0

    table: ClassVar[None] = None

    def __post_init__(self) -> None:
        _check_matrix("GaussianModels", "means", self.means)

    @property
    def law(self) -> Law:
        """Gaussian."""
        return self.noise

    @property
    def deviation(self) -> float:
        """That of the noise plus a mean within the range of the models."""
        return float(np.sqrt(self.noise**2 + 0.25 * np.ptp(self.means, axis=0).max() ** 2))

    def log_likelihood(self, owner: str, action: Any, reward: Any, replicates: tuple[int, ...]) -> Floats:
        """Log likelihood of the reward under each model."""
        m, x = self.means.T[_arm(owner, action, replicates, self.means.shape[1])], _reward(owner, reward, replicates)
        return np.asarray(-0.5 * ((x - m) / self.noise) ** 2 - 0.5 * np.log(2.0 * np.pi * self.noise**2))


@value
class OutcomeModels:
    """Arms that pay one of finitely many amounts."""

    values: Floats
    """The possible rewards, all different, shape (Y,)."""
    prob: Floats
    """Probability that arm a of model i pays values[y], shape (N, K, Y)."""
    means: Floats = field(init=False, repr=False)
    """Mean reward of arm a in model i, shape (N, K)."""

    law: ClassVar[Law] = None

    def __post_init__(self) -> None:
        values = array("OutcomeModels", "values", self.values, (None,))
        prob = array("OutcomeModels", "prob", self.prob, (None, None, len(values)), low=0.0)
        prob = rows_sum_to_one("OutcomeModels", "prob", prob, self.prob)
        if len(np.unique(values)) < len(values):
            raise InvalidArgument("OutcomeModels", "values", "all different", values.tolist())
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "prob", prob)
        object.__setattr__(self, "means", frozen(prob @ values))

    @property
    def deviation(self) -> float:
        """Half of the range of rewards."""
        return float(0.5 * np.ptp(self.values))

    @property
    def table(self) -> tuple[Floats, Floats]:
        """The possible rewards and their probabilities."""
        return self.values, self.prob

    def log_likelihood(self, owner: str, action: Any, reward: Any, replicates: tuple[int, ...]) -> Floats:
        """Log likelihood of the reward under each model."""
        p = np.swapaxes(self.prob, 0, 1)[_arm(owner, action, replicates, self.means.shape[1])]  # (..., N, Y)
        hit = self.values == _reward(owner, reward, replicates)[..., None]  # (..., 1, Y)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(np.sum(p * hit, axis=-1)))


@value
class BernoulliSums:
    """Several arms at once, each of which pays 1 or 0. Only the sum is observed (full-bandit feedback)."""

    means: Annotated[Floats, AtLeast(0.0), Shape("(N, K)"), "Probability that arm a of model i pays."]

    law: ClassVar[Law] = None
    deviation: ClassVar[float | None] = None
    table: ClassVar[None] = None

    def __post_init__(self) -> None:
        _check_probabilities("BernoulliSums", self.means)

    def log_likelihood(self, owner: str, action: Any, reward: Any, replicates: tuple[int, ...]) -> Floats:
        """Log probability of the sum under each model: a Poisson-binomial distribution, computed arm by arm."""
        p = self.means.T[check_set(owner, (*replicates, self.means.shape[1]), action)]  # (..., M, N)
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


def _check_matrix(owner: str, name: str, x: Floats) -> None:
    if x.ndim != 2:
        raise InvalidArgument(owner, name, "an array of shape (any, any)", x)


def _check_probabilities(owner: str, means: Floats) -> None:
    _check_matrix(owner, "means", means)
    if means.max() > 1.0:
        raise InvalidArgument(owner, "means", "at most 1 everywhere", float(means.max()))


def _arm(owner: str, action: Any, replicates: tuple[int, ...], K: int) -> Any:
    where = arm_index(owner, (*replicates, K), action)
    return where % K if replicates else where


def _reward(owner: str, reward: Any, replicates: tuple[int, ...]) -> Floats:
    """The reward with an axis for the models: (1,) or (replicates, 1)."""
    return np.asarray(check_reward(owner, (*replicates, 1), reward), np.float64)[..., None]
