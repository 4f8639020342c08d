"""Clicks with log-odds linear in features: Laplace's approximation with full covariance (survey §3.3).

This is logistic_arms.py with a Gaussian belief N(m, S S') that keeps the correlations between weights. After an answer
m moves to the mode of prior times likelihood. The precision grows by the curvature there, w x x' with w = p (1 - p).
The square root S follows by the rank-one update of linear_gaussian_arms.py with noise variance 1 / w:

    phi = S' x,  h = phi' phi,  m' = m + S phi (y - p),  S' = S - w S phi phi' / (1 + w h + sqrt(1 + w h)).

Deviations: Chapelle and Li keep only the diagonal, for speed. Cost: O(d^2) for an update,
O(d^2 + K d) for a sample. Claims: the mode's gradient vanishes and the precision is the Hessian there; near the exact
posterior if there is much data.
"""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike
from scipy import special

from bayesrl.beliefs.arms._contexts import (
    PaysClicks,
    apply,
    chance_at_mode,
    check_features,
    check_weights,
    fade_gaussian,
    read_log,
)
from bayesrl.beliefs.arms._problems import clicked
from bayesrl.beliefs.arms.arms import check_binary, check_like, check_single, unchecked
from bayesrl.beliefs.log import Log
from bayesrl.checks import Floats, array, frozen, generator, integer, number
from bayesrl.core import Transition
from bayesrl.kernels.logistic import mode_after_many
from bayesrl.parameters import DISCOUNT, Above, AtLeast, Shape, value
from bayesrl.registry import register


def prior_for(
    problem: object, regularisation: Annotated[float, Above(0.0), "Inverse variance of a weight."] = 1.0
) -> LogisticLaplaceArms:
    """Independent weights of the known features of a bandit's arms that pay 1 or 0."""
    own = clicked("logistic-laplace-arms", problem)
    return LogisticLaplaceArms.isotropic(own.n_weights, regularisation, own.features, own.gamma)


@register(
    "logistic-laplace-arms",
    kind="belief",
    survey="3.3",
    paper="Chapelle11EE",
    example=lambda: LogisticLaplaceArms.isotropic(2, features=np.array([[1.0, 0.0], [0.5, 0.5], [-0.3, 1.0]])),
    prior_for=prior_for,
    evidence=(
        "tests/beliefs/arms/test_contextual.py::test_laplace_update_is_the_mode_and_its_hessian",
        "tests/beliefs/arms/test_contextual.py::test_logistic_moments_match_quadrature",
        "tests/beliefs/arms/test_contextual.py::test_logistic_concentrates",
        "tests/beliefs/test_laws.py::test_belief_laws",
    ),
)
@value
class LogisticLaplaceArms(PaysClicks):
    """Zeros and ones with log-odds linear in the arms' features, and a joint Gaussian belief about the weights.

    Examples
    --------
    >>> belief = LogisticLaplaceArms.isotropic(2)  # the context is a matrix with a row of features for each arm
    >>> arms = np.array([[1.0, 0.0], [1.0, 1.0]])
    >>> belief.update(Transition(arms, action=1, reward=1.0, next_observation=0)).mean(arms).round(3)
    array([0.571, 0.629])
    """

    mean_: Annotated[Floats, Shape("(d,) or (replicates, d)"), "Mean of the weights, m."]
    root: Annotated[Floats, Shape("(d, d) or (replicates, d, d)"), "A square root S of the weights' covariance S S'."]
    reshaping: Annotated[float, AtLeast(0.0), "Factor on the standard deviation of draws, alpha."] = 1.0
    features: Annotated[
        Floats | None,
        Shape("(K, d), or (C, K, d) for C contexts"),
        "The arms' features if they are known in advance.",
    ] = None
    gamma: Annotated[float, DISCOUNT, "Discount."] = 1.0

    tells_information: ClassVar[bool] = True

    def __post_init__(self) -> None:
        owner, d = "LogisticLaplaceArms", self.mean_.shape[-1:]
        check_weights(owner, self.mean_)
        check_like(owner, "root", self.root, self.mean_.shape + d)
        object.__setattr__(self, "features", check_features(owner, self.features, *d))

    @classmethod
    def isotropic(
        cls, d: int, regularisation: float = 1.0, features: ArrayLike | None = None, gamma: float = 1.0
    ) -> LogisticLaplaceArms:
        """Weights N(0, 1 / regularisation)."""
        d = integer("LogisticLaplaceArms.isotropic", "d", d, 1)
        q = number("LogisticLaplaceArms.isotropic", "regularisation", regularisation, 0.0, above=True)
        x = None if features is None else array("LogisticLaplaceArms.isotropic", "features", features)
        return cls(np.zeros(d), np.eye(d) / np.sqrt(q), 1.0, x, gamma)

    def batch(self, replicates: int) -> LogisticLaplaceArms:
        """The same belief for each of several replicates in lockstep."""
        n = integer("LogisticLaplaceArms.batch", "replicates", replicates, 1)
        check_single("LogisticLaplaceArms.batch", self.mean_)
        mean, root = frozen(np.tile(self.mean_, (n, 1))), frozen(np.tile(self.root, (n, 1, 1)))
        return unchecked(self, mean_=mean, root=root)

    # Learning --------------------------------------------------------------------------------------------------------

    def update(self, datum: Transition, rng: Generator | None = None) -> LogisticLaplaceArms:
        """The belief after a choice and its answer (or one of each for every replicate)."""
        S = self.root
        x, y = self._clicked(datum)
        phi = np.matmul(x[..., None, :], S)[..., 0, :]
        gain = apply(S, phi)
        s, h = np.sum(x * self.mean_, axis=-1), np.sum(phi * phi, axis=-1)
        p = chance_at_mode(s, h, y)
        w = p * (1.0 - p)
        shrink = gain * (w / (1.0 + w * h + np.sqrt(1.0 + w * h)))[..., None]
        return unchecked(
            self,
            mean_=frozen(self.mean_ + gain * (y - p)[..., None]),
            root=frozen(S - shrink[..., :, None] * phi[..., None, :]),
        )

    def update_many(self, log: Log, rng: Generator | None = None) -> LogisticLaplaceArms:
        """The belief of one experiment after a log, taken as one batch: its mode and the Hessian there.

        The weights are m + S u with u ~ N(0, I). The posterior of u exists also where S is singular.
        """
        owner = "LogisticLaplaceArms.update_many"
        check_single(owner, self.mean_)
        X, y = read_log(owner, self.features, log, len(self.mean_))
        check_binary("LogisticLaplaceArms", y)
        S, prior = self.root, np.eye(len(self.mean_))
        XS = X @ S
        u, weight = mode_after_many(XS, y, X @ self.mean_, prior)
        root = S @ np.linalg.inv(np.linalg.cholesky(prior + (XS.T * weight) @ XS)).T
        return unchecked(self, mean_=frozen(self.mean_ + S @ u), root=frozen(root))

    # Capabilities ----------------------------------------------------------------------------------------------------

    @property
    def covariance(self) -> Floats:
        """Covariance of the weights under the belief."""
        return np.asarray(self.root @ np.swapaxes(self.root, -1, -2))

    def sample_means(self, context: object, rng: Generator) -> Floats:
        """Probabilities of the arms for weights drawn from the belief (reshaped by alpha)."""
        X = self._features("sample_means", context)
        z = generator("LogisticLaplaceArms.sample_means", rng).standard_normal(self.mean_.shape)
        w = self.mean_ + self.reshaping * apply(self.root, z)
        return np.asarray(special.expit(apply(X, w)))

    def fade(self, prior: LogisticLaplaceArms, decay: float) -> LogisticLaplaceArms:
        """The precision and its product with the mean fade towards those of the prior."""
        mean, root = fade_gaussian(self.mean_, self.root, prior.mean_, prior.root, decay)
        return unchecked(self, mean_=mean, root=root)

    def _score(self, asked: str, context: object) -> tuple[Floats, Floats]:
        """Mean and standard deviation of each arm's log-odds."""
        X = self._features(asked, context)
        return apply(X, self.mean_), np.sqrt(np.sum((X @ self.root) ** 2, axis=-1))
