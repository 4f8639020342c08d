"""Clicks with log-odds linear in features: Laplace's approximation with full covariance (survey §3.3).

As logistic_arms.py, but the Gaussian belief N(m, S S') keeps the correlations between weights. After an answer m moves
to the mode of prior times likelihood and the precision grows by the curvature there, w x x' with w = p (1 - p); the
square root S follows by the rank-one update of linear_gaussian_arms.py with noise variance 1 / w:

    phi = S' x,  h = phi' phi,  m' = m + S phi (y - p),  S' = S - w S phi phi' / (1 + w h + sqrt(1 + w h)).

Deviations: Chapelle and Li use the diagonal; this is the version they left out for speed. Cost: update O(d^2), sample
O(d^2 + K d). Claims: the mode's gradient vanishes, the precision is the Hessian there; near the exact posterior where
there is much data.
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
    "logistic-laplace-arms",
    kind="belief",
    survey="3.3",
    paper="Chapelle11EE",
    example=lambda: LogisticLaplaceArms.prior(2, features=np.array([[1.0, 0.0], [0.5, 0.5], [-0.3, 1.0]])),
    evidence=(
        "tests/beliefs/test_contextual.py::test_laplace_update_is_the_mode_and_its_hessian",
        "tests/beliefs/test_contextual.py::test_logistic_moments_match_quadrature",
        "tests/beliefs/test_contextual.py::test_logistic_concentrates",
    ),
)
@value
class LogisticLaplaceArms:
    """Zeros and ones with log-odds linear in the arms' features, and a joint Gaussian belief about the weights."""

    mean_: Floats
    """Centre of the belief about the weights, m, shape (d,) or (replicates, d)."""
    root: Floats
    """A square root S of their covariance S S', shape (d, d) or (replicates, d, d)."""
    reshaping: float = 1.0
    """Factor on the standard deviation of what is drawn, alpha."""
    features: Floats | None = None
    """What arms look like where that is known in advance: (K, d), or (C, K, d) for C kinds of contexts."""
    gamma: float = 1.0
    """Discount."""

    def __post_init__(self) -> None:
        owner, set_ = "LogisticLaplaceArms", object.__setattr__
        mean = array(owner, "mean_", self.mean_)
        if mean.ndim not in (1, 2):
            raise InvalidArgument(owner, "mean_", "of shape (d,) or (replicates, d)", mean)
        set_(self, "mean_", mean)
        set_(self, "root", array(owner, "root", self.root, (*mean.shape, mean.shape[-1])))
        set_(self, "reshaping", number(owner, "reshaping", self.reshaping, 0.0))
        set_(self, "features", table(owner, self.features, mean.shape[-1]))
        set_(self, "gamma", number(owner, "gamma", self.gamma, 0.0, 1.0))

    @classmethod
    def prior(
        cls, d: int, regularisation: float = 1.0, features: ArrayLike | None = None, gamma: float = 1.0
    ) -> LogisticLaplaceArms:
        """Weights N(0, 1 / regularisation)."""
        d = integer("LogisticLaplaceArms.prior", "d", d, 1)
        q = number("LogisticLaplaceArms.prior", "regularisation", regularisation, 0.0, above=True)
        x = None if features is None else array("LogisticLaplaceArms.prior", "features", features)
        return cls(np.zeros(d), np.eye(d) / np.sqrt(q), 1.0, x, gamma)

    def batch(self, replicates: int) -> LogisticLaplaceArms:
        """So many experiments side by side."""
        n = integer("LogisticLaplaceArms.batch", "replicates", replicates, 1)
        if self.mean_.ndim != 1:
            raise InvalidArgument("LogisticLaplaceArms.batch", "belief", "of a single experiment", self.mean_)
        mean, root = frozen(np.tile(self.mean_, (n, 1))), frozen(np.tile(self.root, (n, 1, 1)))
        return unchecked(self, mean_=mean, root=root)

    # Learning --------------------------------------------------------------------------------------------------------

    def update(self, datum: Transition, rng: Generator | None = None) -> LogisticLaplaceArms:
        """The belief after a choice and its answer (or one of each for every replicate)."""
        owner, S = "LogisticLaplaceArms.update", self.root
        x = row_of(owner, self._features(owner, datum.observation), datum.action, self.mean_.shape[:-1])
        y = np.asarray(paid(owner, self.mean_.shape, datum.reward))
        binary("LogisticLaplaceArms", y)
        phi = np.matmul(x[..., None, :], S)[..., 0, :]
        gain = apply(S, phi)
        s, h = np.sum(x * self.mean_, axis=-1), np.sum(phi * phi, axis=-1)
        p = special.expit(mode_after_one(np.atleast_1d(s), np.atleast_1d(h), np.atleast_1d(y)).reshape(s.shape))
        w = p * (1.0 - p)
        shrink = gain * (w / (1.0 + w * h + np.sqrt(1.0 + w * h)))[..., None]
        return unchecked(
            self,
            mean_=frozen(self.mean_ + gain * (y - p)[..., None]),
            root=frozen(S - shrink[..., :, None] * phi[..., None, :]),
        )

    def update_many(self, log: Log) -> LogisticLaplaceArms:
        """The belief of one experiment after a log, taken as one batch: its mode and the Hessian there."""
        owner = "LogisticLaplaceArms.update_many"
        if self.mean_.ndim != 1:
            raise InvalidArgument(owner, "belief", "of a single experiment", self.mean_)
        X, y = logged(owner, self.features, log, len(self.mean_))
        binary("LogisticLaplaceArms", y)
        Q = np.asarray(np.linalg.inv(self.covariance), np.float64)
        mean, weight = mode_after_many(X, y, self.mean_, Q)
        root = np.linalg.inv(np.linalg.cholesky(Q + (X.T * weight) @ X)).T
        return unchecked(self, mean_=frozen(mean), root=frozen(root))

    # What planners ask -----------------------------------------------------------------------------------------------

    @property
    def n_actions(self) -> int:
        """K, where the belief holds the arms' features."""
        if self.features is None:
            raise InvalidArgument("LogisticLaplaceArms", "features", "given to know the number of arms", None)
        return int(self.features.shape[-2])

    @property
    def covariance(self) -> Floats:
        """Covariance of the weights under the belief."""
        return np.asarray(self.root @ np.swapaxes(self.root, -1, -2))

    def sample_means(self, context: object, rng: Generator) -> Floats:
        """Probabilities of the arms for weights drawn from the belief (reshaped by alpha)."""
        X = self._features("LogisticLaplaceArms.sample_means", context)
        w = self.mean_ + self.reshaping * apply(self.root, rng.standard_normal(self.mean_.shape))
        return np.asarray(special.expit(apply(X, w)))

    def mean(self, context: Any = None) -> Floats:
        """Expected reward of each arm."""
        return logistic_moments(*self._score("LogisticLaplaceArms.mean", context))[0]

    def variance(self, context: Any = None) -> Floats:
        """Variance of each arm's mean reward under the belief."""
        return logistic_moments(*self._score("LogisticLaplaceArms.variance", context))[1]

    def quantile(self, p: float, context: Any = None) -> Floats:
        """The p-quantile of each arm's mean reward under the belief."""
        centre, spread = self._score("LogisticLaplaceArms.quantile", context)
        return np.asarray(special.expit(centre + spread * special.ndtri(p)))

    def _score(self, owner: str, context: Any) -> tuple[Floats, Floats]:
        """Mean and standard deviation of each arm's log-odds."""
        X = self._features(owner, context)
        return apply(X, self.mean_), np.sqrt(np.sum((X @ self.root) ** 2, axis=-1))

    def _features(self, owner: str, context: Any) -> Floats:
        return features_of(owner, self.features, context, self.mean_.shape[:-1], self.mean_.shape[-1])
