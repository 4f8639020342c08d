"""Clicks with log-odds linear in features: online logistic regression (Chapelle and Li 2011, Algorithm 3; survey §3.3).

Arm a with features x_a pays 1 with probability sigmoid(w' x_a), else 0. The belief about w is Gaussian with independent
coordinates, N(m_i, 1 / q_i). After a batch of answers m moves to the mode of prior times likelihood, and each q_i grows
by the curvature there:

    m' = argmin_w  1/2 sum_i q_i (w_i - m_i)^2 + sum_j log(1 + exp(-+ w' x_j)),
    q_i' = q_i + sum_j x_ij^2 p_j (1 - p_j).

With one answer at a time the mode lies on the line m + c x / q, and c is the root of an equation in one unknown. What
is drawn may be reshaped by alpha, as in the paper's Table 2: standard deviations are multiplied by it.

Deviations: none; `update` is the paper's batch of one, `update_many` one batch. The belief approximates the posterior
and depends on the order of batches. Cost: update O(d), sample O(K d). Claims: the mode's gradient vanishes; moments
against quadrature; near the exact posterior where there is much data. With correlations: logistic_laplace_arms.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike
from scipy import special

from bayesrl.beliefs._log import Log
from bayesrl.beliefs.arms._arms import paid, unchecked
from bayesrl.beliefs.arms._contexts import apply, binary, features_of, logged, logistic_moments, row_of, table
from bayesrl.checks import Floats, array, frozen, integer, number
from bayesrl.core import Transition
from bayesrl.errors import InvalidArgument
from bayesrl.kernels.logistic import mode_after_many, mode_after_one
from bayesrl.parameters import value
from bayesrl.registry import register


@register(
    "logistic-arms",
    kind="belief",
    survey="3.3",
    paper="Chapelle11EE",
    example=lambda: LogisticArms.prior(2, features=np.array([[1.0, 0.0], [0.5, 0.5], [-0.3, 1.0]])),
    evidence=(
        "tests/beliefs/test_contextual.py::test_logistic_update_is_the_mode_and_its_curvature",
        "tests/beliefs/test_contextual.py::test_logistic_moments_match_quadrature",
        "tests/beliefs/test_contextual.py::test_logistic_concentrates",
    ),
)
@value
class LogisticArms:
    """Zeros and ones with log-odds linear in the arms' features, and independent Gaussian weights."""

    mean_: Floats
    """Centre of the belief about the weights, m, shape (d,) or (replicates, d)."""
    precision: Floats
    """Inverse variance of each weight, q, the same shape."""
    reshaping: float = 1.0
    """Factor on the standard deviation of what is drawn, alpha."""
    features: Floats | None = None
    """What arms look like where that is known in advance: (K, d), or (C, K, d) for C kinds of contexts."""
    gamma: float = 1.0
    """Discount."""

    def __post_init__(self) -> None:
        owner, set_ = "LogisticArms", object.__setattr__
        mean = array(owner, "mean_", self.mean_)
        if mean.ndim not in (1, 2):
            raise InvalidArgument(owner, "mean_", "of shape (d,) or (replicates, d)", mean)
        set_(self, "mean_", mean)
        set_(self, "precision", array(owner, "precision", self.precision, mean.shape, low=0.0, above=True))
        set_(self, "reshaping", number(owner, "reshaping", self.reshaping, 0.0))
        set_(self, "features", table(owner, self.features, mean.shape[-1]))
        set_(self, "gamma", number(owner, "gamma", self.gamma, 0.0, 1.0))

    @classmethod
    def prior(
        cls, d: int, regularisation: float = 1.0, features: ArrayLike | None = None, gamma: float = 1.0
    ) -> LogisticArms:
        """Weights N(0, 1 / regularisation), the paper's lambda."""
        d = integer("LogisticArms.prior", "d", d, 1)
        q = number("LogisticArms.prior", "regularisation", regularisation, 0.0, above=True) * np.ones(d)
        x = None if features is None else array("LogisticArms.prior", "features", features)
        return cls(np.zeros(d), q, 1.0, x, gamma)

    def batch(self, replicates: int) -> LogisticArms:
        """So many experiments side by side."""
        n = integer("LogisticArms.batch", "replicates", replicates, 1)
        if self.mean_.ndim != 1:
            raise InvalidArgument("LogisticArms.batch", "belief", "of a single experiment", self.mean_)
        mean, precision = (frozen(np.tile(x, (n, 1))) for x in (self.mean_, self.precision))
        return unchecked(self, mean_=mean, precision=precision)

    # Learning --------------------------------------------------------------------------------------------------------

    def update(self, datum: Transition, rng: Generator | None = None) -> LogisticArms:
        """The belief after a choice and its answer (or one of each for every replicate)."""
        owner = "LogisticArms.update"
        x = row_of(owner, self._features(owner, datum.observation), datum.action, self.mean_.shape[:-1])
        y = np.asarray(paid(owner, self.mean_.shape, datum.reward))
        binary("LogisticArms", y)
        lever = x / self.precision
        s, h = np.sum(x * self.mean_, axis=-1), np.sum(x * lever, axis=-1)
        p = special.expit(mode_after_one(np.atleast_1d(s), np.atleast_1d(h), np.atleast_1d(y)).reshape(s.shape))
        return unchecked(
            self,
            mean_=frozen(self.mean_ + lever * (y - p)[..., None]),
            precision=frozen(self.precision + x * x * (p * (1.0 - p))[..., None]),
        )

    def update_many(self, log: Log) -> LogisticArms:
        """The belief of one experiment after a log, taken as one batch."""
        owner = "LogisticArms.update_many"
        if self.mean_.ndim != 1:
            raise InvalidArgument(owner, "belief", "of a single experiment", self.mean_)
        X, y = logged(owner, self.features, log, len(self.mean_))
        binary("LogisticArms", y)
        mean, weight = mode_after_many(X, y, self.mean_, np.diag(self.precision))
        return unchecked(self, mean_=frozen(mean), precision=frozen(self.precision + weight @ (X * X)))

    # What planners ask -----------------------------------------------------------------------------------------------

    @property
    def n_actions(self) -> int:
        """K, where the belief holds the arms' features."""
        if self.features is None:
            raise InvalidArgument("LogisticArms", "features", "given to know the number of arms", None)
        return int(self.features.shape[-2])

    def sample_means(self, context: object, rng: Generator) -> Floats:
        """Probabilities of the arms for weights drawn from the belief (reshaped by alpha)."""
        X = self._features("LogisticArms.sample_means", context)
        w = self.mean_ + self.reshaping * rng.standard_normal(self.mean_.shape) / np.sqrt(self.precision)
        return np.asarray(special.expit(apply(X, w)))

    def mean(self, context: Any = None) -> Floats:
        """Expected reward of each arm."""
        return logistic_moments(*self._score("LogisticArms.mean", context))[0]

    def variance(self, context: Any = None) -> Floats:
        """Variance of each arm's mean reward under the belief."""
        return logistic_moments(*self._score("LogisticArms.variance", context))[1]

    def quantile(self, p: float, context: Any = None) -> Floats:
        """The p-quantile of each arm's mean reward under the belief."""
        centre, spread = self._score("LogisticArms.quantile", context)
        return np.asarray(special.expit(centre + spread * special.ndtri(p)))

    def _score(self, owner: str, context: Any) -> tuple[Floats, Floats]:
        """Mean and standard deviation of each arm's log-odds."""
        X = self._features(owner, context)
        return apply(X, self.mean_), np.sqrt(apply(X * X, 1.0 / self.precision))

    def _features(self, owner: str, context: Any) -> Floats:
        return features_of(owner, self.features, context, self.mean_.shape[:-1], self.mean_.shape[-1])
