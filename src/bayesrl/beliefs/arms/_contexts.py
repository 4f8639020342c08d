"""Contextual beliefs: the features of the arms, a row for each arm.

The context is the observation before a choice. It determines the features of the arms:

    None               the arms have fixed features, a table (K, d) that the belief holds
    an integer         one of C contexts; the belief holds a table (C, K, d)
    a matrix (K, d)    the features themselves

In lockstep each replicate has its own context: integers (replicates,) or matrices (replicates, K, d). One matrix for
all replicates is also accepted.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray
from scipy import special

from bayesrl.beliefs.arms.arms import check_binary, check_reward, check_rewards
from bayesrl.beliefs.arms.best_arm import DRAWS, best_arm_by_draws
from bayesrl.beliefs.log import Log, column_name, columns, table_of, transitions
from bayesrl.capabilities import BestArm
from bayesrl.checks import Floats, array, as_array, frozen, probability
from bayesrl.core import Transition
from bayesrl.errors import InvalidArgument
from bayesrl.kernels.logistic import mode_after_one

NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(61)
WEIGHTS = WEIGHTS / WEIGHTS.sum()


def check_features(owner: str, features: ArrayLike | None, d: int) -> Floats | None:
    """The table of features that a belief holds: (K, d), (C, K, d) or None."""
    if features is None:
        return None
    x = array(owner, "features", features)
    if x.ndim not in (2, 3) or x.shape[-1] != d:
        raise InvalidArgument(owner, "features", f"of shape (arms, {d}) or (contexts, arms, {d})", x)
    return x


def features_of(owner: str, features: Floats | None, context: Any, replicates: tuple[int, ...], d: int) -> Floats:
    """The features of the arms in this context: (K, d), or (replicates, K, d)."""
    try:
        kind = np.asarray(context) if context is not None else None
    except ValueError:  # rows of different lengths
        raise InvalidArgument(owner, "context", _wanted(features, d), context) from None
    if features is not None:
        if features.ndim == 2:
            if kind is None or (kind.dtype.kind in "iu" and kind.shape in ((), replicates)):
                return features  # the context is ignored
        elif kind is not None and kind.dtype.kind in "iu" and kind.shape == replicates:
            if kind.size and (kind.min() < 0 or kind.max() >= len(features)):
                raise InvalidArgument(owner, "context", f"whole numbers from 0 to {len(features) - 1}", context)
            return np.asarray(features[kind])
    known = features.shape[-2] if features is not None else None
    if kind is None or kind.dtype.kind not in "biuf" or kind.shape[:-2] not in ((), replicates) or kind.ndim < 2:
        raise InvalidArgument(owner, "context", _wanted(features, d), context)
    if kind.shape[-1] != d or known not in (None, kind.shape[-2]):
        raise InvalidArgument(owner, "context", _wanted(features, d), kind)
    if not np.isfinite(kind).all():
        raise InvalidArgument(owner, "context", "finite everywhere", float(kind[~np.isfinite(kind)][0]))
    return np.asarray(kind, np.float64)


def chosen_features(owner: str, X: Floats, action: Any, replicates: tuple[int, ...]) -> Floats:
    """The features of the chosen arm: (d,), or (replicates, d)."""
    a = as_array(action)
    K = X.shape[-2]
    if a.shape != replicates or a.dtype.kind not in "iu" or a.min() < 0 or a.max() >= K:
        raise InvalidArgument(owner, "action", f"whole numbers from 0 to {K - 1}", action)
    if not replicates:
        return np.asarray(X[int(a)])
    return np.asarray(X[a] if X.ndim == 2 else X[np.arange(len(a)), a])


def read_log(owner: str, features: Floats | None, log: Log, d: int) -> tuple[Floats, Floats]:
    """The features of the chosen arms (steps, d) and the rewards (steps,) in a log of one experiment."""
    log = log if table_of(log) is not None else list(transitions(owner, log))
    action, reward = columns(owner, log, "action", "reward")
    n = len(action)
    if features is None or features.ndim == 3:
        contexts: Sequence[Any] | NDArray[Any] = columns(owner, log, "action", "observation")[1]
    else:
        contexts = given_matrices(owner, log) or [None] * n
    rows = [
        chosen_features(owner, features_of(owner, features, c, (), d), a, ())
        for c, a in zip(contexts, action, strict=True)
    ]
    return frozen(np.array(rows).reshape(n, d)), check_rewards(owner, reward, (n,))


def given_matrices(owner: str, log: Log) -> list[Any]:
    """The contexts of a log for a belief that has features of its own: matrices replace them, others are None."""
    if (table := table_of(log)) is None:
        contexts = [step.observation for step in transitions(owner, log)]
    elif column_name(table, "observation") is None:
        return []
    else:
        contexts = list(columns(owner, log, "action", "observation")[1])
    return [context if np.ndim(context) == 2 else None for context in contexts]


def apply(A: Floats, x: Floats) -> Floats:
    """A x for one replicate or many."""
    return np.asarray(A @ x if x.ndim == 1 else np.matmul(A, x[..., None])[..., 0])


def logistic_moments(centre: Floats, spread: Floats) -> tuple[Floats, Floats]:
    """Mean and variance of sigmoid(z), z ~ N(centre, spread^2), by Gauss-Hermite quadrature."""
    p = special.expit(centre[..., None] + spread[..., None] * NODES)
    mean = p @ WEIGHTS
    return mean, ((p - mean[..., None]) ** 2) @ WEIGHTS


def _wanted(features: Floats | None, d: int) -> str:
    if features is None:
        return f"a matrix of shape (arms, {d})"
    if features.ndim == 3:
        return f"a whole number from 0 to {len(features) - 1} or a matrix of shape {features.shape[1:]}"
    return f"left out or a matrix of shape {features.shape}"


def fade_gaussian(mean: Floats, root: Floats, mean0: Floats, root0: Floats, decay: float) -> tuple[Floats, Floats]:
    """The mean and root S of a Gaussian with covariance S S' that fades towards another Gaussian.

    Natural parameters are the precision matrix and its product with the mean. With W = S^-1 the precision is W' W. The
    new precision is that of the two matrices W stacked, each times the square root of its weight. This is a
    least-squares problem, which QR solves without squaring the condition number.
    """
    old, new = np.sqrt(1.0 - decay), np.sqrt(decay)
    try:
        W0, W = old * np.linalg.inv(root0), new * np.linalg.inv(root)
    except np.linalg.LinAlgError:
        hint = "A weight that is known exactly has no finite precision that could fade."
        raise InvalidArgument("fade", "root", "invertible", root, hint) from None
    target = np.concatenate([W0 @ mean0[..., None], W @ mean[..., None]], axis=-2)
    Q, R = np.linalg.qr(np.concatenate([W0, W], axis=-2))
    inverse = np.linalg.inv(R)
    m = inverse @ (np.swapaxes(Q, -1, -2) @ target)
    return frozen(m[..., 0]), frozen(inverse)


def check_weights(owner: str, mean: Floats) -> None:
    """Raise an error unless the mean has shape (d,) or (replicates, d)."""
    if mean.ndim not in (1, 2):
        raise InvalidArgument(owner, "mean_", "of shape (d,) or (replicates, d)", mean)


class OverFeatures:
    """Members that beliefs about the weights of features share."""

    mean_: Floats
    features: Floats | None

    @property
    def n_actions(self) -> int:
        """K, if the belief holds the arms' features."""
        if self.features is None:
            raise InvalidArgument(type(self).__name__, "features", "given, since the number of arms is needed", None)
        return int(self.features.shape[-2])

    @property
    def n_weights(self) -> int:
        """d."""
        return self.mean_.shape[-1]

    def _features(self, asked: str, context: object) -> Floats:
        """The features of the arms in this context. An error names the method `asked`."""
        owner = f"{type(self).__name__}.{asked}"
        return features_of(owner, self.features, context, self.mean_.shape[:-1], self.mean_.shape[-1])

    def _chosen(self, datum: Transition) -> tuple[Floats, Floats]:
        """The features of the chosen arm, (d,) or (replicates, d), and its reward, () or (replicates,)."""
        owner = f"{type(self).__name__}.update"
        x = chosen_features(owner, self._features("update", datum.observation), datum.action, self.mean_.shape[:-1])
        return x, np.asarray(check_reward(owner, self.mean_.shape, datum.reward))


class PaysClicks(OverFeatures, ABC):
    """Members that beliefs about clicks with log-odds linear in the features share."""

    pays_ones: ClassVar[bool] = True

    @abstractmethod
    def sample_means(self, context: object, rng: Generator) -> Floats:
        """Probabilities of the arms for weights drawn from the belief."""

    @abstractmethod
    def _score(self, asked: str, context: object) -> tuple[Floats, Floats]:
        """Mean and standard deviation of each arm's log-odds."""

    def mean(self, context: object = None) -> Floats:
        """Expected reward of each arm."""
        return logistic_moments(*self._score("mean", context))[0]

    def variance(self, context: object = None) -> Floats:
        """Variance of each arm's mean reward under the belief."""
        return logistic_moments(*self._score("variance", context))[1]

    def quantile(self, p: float, context: object = None) -> Floats:
        """The p-quantile of each arm's mean reward under the belief."""
        p = probability(f"{type(self).__name__}.quantile", "p", p)
        centre, spread = self._score("quantile", context)
        return np.asarray(special.expit(centre + spread * special.ndtri(p)))

    def best_arm(self, context: object = None, samples: int = DRAWS, rng: Generator | None = None) -> BestArm:
        """The distribution of the best arm, estimated from draws."""
        return best_arm_by_draws(self, context, samples, rng, "bernoulli")

    def _clicked(self, datum: Transition) -> tuple[Floats, Floats]:
        """The features of the chosen arm, and whether it paid."""
        x, y = self._chosen(datum)
        check_binary(type(self).__name__, y)
        return x, y


def chance_at_mode(s: Floats, h: Floats, y: Floats) -> Floats:
    """p = sigmoid(w' x) at the mode after one answer y, if w' x has prior mean s and variance h."""
    return np.asarray(special.expit(mode_after_one(*(np.atleast_1d(each) for each in (s, h, y))).reshape(s.shape)))
