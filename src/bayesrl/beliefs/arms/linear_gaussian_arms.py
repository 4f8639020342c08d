"""Rewards linear in features, with a Gaussian belief about the weights (Agrawal and Goyal 2013; survey §2.5, §3.3).

Arm a with features x_a pays x_a' theta + N(0, sigma^2), and theta ~ N(m, S S'). The posterior is Gaussian. A reward r
for features x leads to a rank-one update of the square root S (Potter), so that the covariance stays positive:

    phi = S' x,   c = sigma^2 + phi' phi,   m' = m + S phi (r - x' m) / c,   S' = S - S phi phi' / (c + sigma sqrt(c)).

Agrawal and Goyal draw theta from N(m, v^2 B^-1) with B = I + sum x x'. Their v does not come from a noise model. This
is the posterior of the prior N(0, sigma^2 I) with draws stretched by v / sigma. The parameter `v` stretches draws,
`agrawal_goyal(...)` builds their belief, and `their_v` is the v of their theorem. Without v, draws are exact.

Deviations: none. Cost: O(d^2) for an update, O(d^2 + K d) for a sample. Claims: belief laws; equal to the batch formula
of the survey (its eq. for the linear model) to rounding; v stretches draws and nothing else.
"""

from __future__ import annotations

import math
from dataclasses import field
from typing import Annotated, ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike
from scipy import special

from bayesrl.beliefs.arms._contexts import OverFeatures, apply, check_features, check_weights, fade_gaussian, read_log
from bayesrl.beliefs.arms._problems import featured
from bayesrl.beliefs.arms.arms import check_like, check_single, unchecked
from bayesrl.beliefs.arms.best_arm import DRAWS, best_arm_of_list, check_draws
from bayesrl.beliefs.log import Log
from bayesrl.capabilities import BestArm
from bayesrl.checks import Floats, array, frozen, generator, integer, number, probability
from bayesrl.core import Transition
from bayesrl.parameters import DISCOUNT, Above, AtLeast, Shape, value
from bayesrl.registry import register


def prior_for(
    problem: object,
    scale: Annotated[float, Above(0.0), "Standard deviation of a weight."] = 1.0,
    noise: Annotated[float, Above(0.0), "Standard deviation of a reward."] = 1.0,
) -> LinearGaussianArms:
    """Independent weights of the known features of a bandit's arms."""
    own = featured("linear-gaussian-arms", problem)
    return LinearGaussianArms.isotropic(own.n_weights, scale, noise, own.features, own.gamma)


@register(
    "linear-gaussian-arms",
    kind="belief",
    survey="3.3",
    paper="agrawal2013thompson",
    example=lambda: LinearGaussianArms.isotropic(
        2, noise=0.7, features=np.array([[1.0, 0.0], [0.5, 0.5], [-0.3, 1.0]])
    ),
    prior_for=prior_for,
    evidence=(
        "tests/beliefs/arms/test_contextual.py::test_linear_matches_batch_regression",
        "tests/beliefs/test_laws.py::test_belief_laws",
        "tests/beliefs/arms/test_contextual.py::test_v_stretches_draws_only",
    ),
)
@value
class LinearGaussianArms(OverFeatures):
    """Rewards linear in the arms' features with Gaussian noise, and a Gaussian belief about the weights.

    Examples
    --------
    >>> belief = LinearGaussianArms.isotropic(2)  # the context is a matrix with a row of features for each arm
    >>> arms = np.array([[1.0, 0.0], [1.0, 1.0]])
    >>> belief.update(Transition(arms, action=1, reward=3.0, next_observation=0)).mean(arms)
    array([1., 2.])
    """

    mean_: Annotated[Floats, Shape("(d,) or (replicates, d)"), "Mean of the weights, m."]
    root: Annotated[Floats, Shape("(d, d) or (replicates, d, d)"), "A square root S of the weights' covariance S S'."]
    noise: Annotated[float, Above(0.0), "Standard deviation of a reward, sigma."] = 1.0
    v: Annotated[
        float | None, AtLeast(0.0), "Agrawal and Goyal's v: draws are stretched by v / noise. None for exact draws."
    ] = None
    features: Annotated[
        Floats | None,
        Shape("(K, d), or (C, K, d) for C contexts"),
        "The arms' features if they are known in advance.",
    ] = None
    gamma: Annotated[float, DISCOUNT, "Discount."] = 1.0
    evidence: Floats = field(init=False, repr=False)
    """Log density of the rewards seen, shape () or (replicates,)."""

    tells_information: ClassVar[bool] = True

    def __post_init__(self) -> None:
        owner, d = "LinearGaussianArms", self.mean_.shape[-1:]
        check_weights(owner, self.mean_)
        check_like(owner, "root", self.root, self.mean_.shape + d)
        object.__setattr__(self, "features", check_features(owner, self.features, *d))
        object.__setattr__(self, "evidence", frozen(np.zeros(self.mean_.shape[:-1])))

    @classmethod
    def isotropic(
        cls, d: int, scale: float = 1.0, noise: float = 1.0, features: ArrayLike | None = None, gamma: float = 1.0
    ) -> LinearGaussianArms:
        """Weights independent N(0, scale^2).

        >>> belief = LinearGaussianArms.isotropic(2, features=[[1.0, 0.0], [1.0, 1.0]])
        >>> belief.update(Transition(0, 1, 3.0, 0)).mean()
        array([1., 2.])
        """
        d = integer("LinearGaussianArms.isotropic", "d", d, 1)
        root = number("LinearGaussianArms.isotropic", "scale", scale, 0.0, above=True) * np.eye(d)
        x = None if features is None else array("LinearGaussianArms.isotropic", "features", features)
        return cls(np.zeros(d), root, noise, None, x, gamma)

    @classmethod
    def agrawal_goyal(
        cls, d: int, v: float, features: ArrayLike | None = None, gamma: float = 1.0
    ) -> LinearGaussianArms:
        """Agrawal and Goyal's belief: B = I before any reward, draws from N(m, v^2 B^-1)."""
        x = None if features is None else array("LinearGaussianArms.agrawal_goyal", "features", features)
        d = integer("LinearGaussianArms.agrawal_goyal", "d", d, 1)
        return cls(np.zeros(d), np.eye(d), 1.0, v, x, gamma)

    def batch(self, replicates: int) -> LinearGaussianArms:
        """The same belief for each of several replicates in lockstep."""
        n = integer("LinearGaussianArms.batch", "replicates", replicates, 1)
        check_single("LinearGaussianArms.batch", self.mean_)
        return unchecked(
            self,
            mean_=frozen(np.tile(self.mean_, (n, 1))),
            root=frozen(np.tile(self.root, (n, 1, 1))),
            evidence=frozen(np.full(n, self.evidence)),
        )

    # Learning --------------------------------------------------------------------------------------------------------

    def update(self, datum: Transition, rng: Generator | None = None) -> LinearGaussianArms:
        """The posterior after a choice and its reward (or one of each for every replicate)."""
        return self.observe(*self._chosen(datum))

    def observe(self, x: Floats, r: float | Floats) -> LinearGaussianArms:
        """The posterior after reward r for features x, without checks: the equations above."""
        S, m, variance = self.root, self.mean_, self.noise**2
        phi = np.matmul(x[..., None, :], S)[..., 0, :]
        c = variance + np.sum(phi * phi, axis=-1)
        gain = np.matmul(S, phi[..., None])[..., 0]
        error = r - np.sum(x * m, axis=-1)
        shrink = gain * (1.0 / (c + np.sqrt(variance * c)))[..., None]
        return unchecked(
            self,
            mean_=frozen(m + gain * (error / c)[..., None]),
            root=frozen(S - shrink[..., :, None] * phi[..., None, :]),
            evidence=frozen(np.asarray(self.evidence - 0.5 * (error**2 / c + np.log(2.0 * np.pi * c)))),
        )

    def update_many(self, log: Log, rng: Generator | None = None) -> LinearGaussianArms:
        """The posterior of one experiment after a log of choices, rewards and, if they vary, contexts."""
        owner = "LinearGaussianArms.update_many"
        check_single(owner, self.mean_)
        X, r = read_log(owner, self.features, log, len(self.mean_))
        new = self
        for x, y in zip(X, r, strict=True):
            new = new.observe(x, y)
        return new

    # Capabilities ----------------------------------------------------------------------------------------------------

    @property
    def covariance(self) -> Floats:
        """Posterior covariance of the weights."""
        return np.asarray(self.root @ np.swapaxes(self.root, -1, -2))

    def sample_means(self, context: object, rng: Generator) -> Floats:
        """Mean rewards of the arms for weights drawn from the belief (stretched by v / noise)."""
        X = self._features("sample_means", context)
        return apply(X, self.sample_weights(rng))

    def sample_weights(self, rng: Generator) -> Floats:
        """Weights drawn from the belief (stretched by v / noise)."""
        z = generator("LinearGaussianArms.sample_means", rng).standard_normal(self.mean_.shape)
        if self.v is not None:
            z *= self.v / self.noise
        return self.mean_ + apply(self.root, z)

    def mean(self, context: object = None) -> Floats:
        """Expected reward of each arm."""
        return apply(self._features("mean", context), self.mean_)

    def variance(self, context: object = None) -> Floats:
        """Posterior variance of each arm's mean reward."""
        spread = self._features("variance", context) @ self.root
        return np.asarray(np.sum(spread * spread, axis=-1))

    def quantile(self, p: float, context: object = None) -> Floats:
        """The p-quantile of each arm's mean reward."""
        p = probability("LinearGaussianArms.quantile", "p", p)
        return self.mean(context) + np.sqrt(self.variance(context)) * float(special.ndtri(p))

    def log_evidence(self) -> Floats:
        """Log density of the rewards given the choices under the prior, for each replicate."""
        return self.evidence

    def best_arm(self, context: object = None, samples: int = DRAWS, rng: Generator | None = None) -> BestArm:
        """The distribution of the best arm, estimated from draws of the weights, which v does not stretch."""
        rng = check_draws(self, samples, rng)
        X, replicates = self._features("best_arm", context), self.mean_.shape[:-1]
        z = rng.standard_normal((*replicates, samples, self.n_weights))
        weights = self.mean_[..., None, :] + z @ np.swapaxes(self.root, -1, -2)
        theta = np.asarray(weights @ np.swapaxes(X, -1, -2))
        return best_arm_of_list(theta, np.full(theta.shape[:-1], 1.0 / samples), self.noise)

    def reward_deviation(self) -> float:
        """The largest standard deviation of a predicted reward, which further rewards do not increase."""
        spread = np.square(self.linear_features() @ self.root).sum(axis=-1)
        return float(np.sqrt(spread.max() + self.noise**2))

    def linear_features(self) -> Floats:
        """The arms' features, (K, d) or (C, K, d)."""
        _ = self.n_actions  # checks that the belief has features
        return np.asarray(self.features)

    def fade(self, prior: LinearGaussianArms, decay: float) -> LinearGaussianArms:
        """The precision and its product with the mean fade towards those of the prior."""
        mean, root = fade_gaussian(self.mean_, self.root, prior.mean_, prior.root, decay)
        return unchecked(self, mean_=mean, root=root)


def their_v(d: int, bound: float, epsilon: float, delta: float) -> float:
    """The v of Agrawal and Goyal's theorem: R sqrt(24 d / epsilon ln(1 / delta)) for R-sub-Gaussian noise."""
    d = integer("their_v", "d", d, 1)
    R = number("their_v", "bound", bound, 0.0, above=True)
    epsilon = number("their_v", "epsilon", epsilon, 0.0, 1.0, above=True, below=True)
    delta = number("their_v", "delta", delta, 0.0, 1.0, above=True, below=True)
    return R * math.sqrt(24.0 * d / epsilon * math.log(1.0 / delta))
