"""The best arm under a posterior, and the information that a play of each arm gives about it.

Let A* be the best arm, p its distribution, theta_b the mean reward of arm b, and Y_b a reward of arm b. Every belief
about arms offers `best_arm`, which returns p, E[theta_b | A* = a] and the information g_b = I(A*; Y_b). Beliefs share
these computations:

    best_arm_of_betas, best_arm_of_normals   numerical integration (kernels/best_arm.py), errors below 1e-8
    best_arm_of_list                         sums over a list of possible means with weights
    best_arm_by_draws                        sums over draws from the belief

The information is computed for rewards that are 0 or 1 and for Gaussian rewards. The estimate from draws is too large
by about K / (2 samples).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Literal, NamedTuple

import numpy as np
from numpy.random import Generator
from scipy import special

from bayesrl.capabilities import SamplesMeans
from bayesrl.checks import Floats, integer
from bayesrl.errors import InvalidArgument
from bayesrl.kernels.best_arm import DEVIATIONS, NODES, UP_TO, WEIGHTS, best_beta, best_normal

Law = Literal["bernoulli"] | float | None
"""The distribution of a reward given its mean: Bernoulli, Gaussian with this standard deviation, or other (None)."""
DRAWS = 10_000
"""Default number of draws from a belief that can be neither integrated nor listed."""


class BestArm(NamedTuple):
    """The posterior of the best arm. Leading axes, if any, are replicates."""

    p: Floats
    """P(A* = a), (..., K)."""
    given: Floats
    """E[theta_b | A* = a], (..., K, K), row a."""
    mean: Floats
    """E[theta_b], (..., K)."""
    gain: Callable[[], Floats] | None = None
    """Computes I(A*; Y_a) in nats for each arm, (..., K); None if the rewards are neither 0 or 1 nor Gaussian."""

    @property
    def shortfall(self) -> Floats:
        """Delta_a = E[theta_{A*}] - E[theta_a], (..., K)."""
        best = np.einsum("...a,...aa->...", self.p, self.given)
        return np.asarray(np.maximum(best[..., None] - self.mean, 0.0))

    @property
    def variance(self) -> Floats:
        """v_a = Var(E[theta_a | A*]), (..., K)."""
        return np.asarray(np.einsum("...a,...ab->...b", self.p, (self.given - self.mean[..., None, :]) ** 2))


# The best arm --------------------------------------------------------------------------------------------------------


def best_arm_of_betas(alpha: Floats, beta: Floats, mean: Floats) -> BestArm:
    """The best arm if means are Beta(alpha, beta) and rewards are 0 or 1."""
    p, given = best_beta(alpha, beta)
    return BestArm(p, given, mean, partial(bernoulli_information, p, given, mean))


def best_arm_of_normals(mean: Floats, deviation: Floats, noise: float) -> BestArm:
    """The best arm if means are N(mean, deviation^2) and rewards are Gaussian."""
    p, given = best_normal(mean, deviation)
    return BestArm(p, given, mean, partial(_normal_information, mean, deviation, noise))


def best_arm_of_list(theta: Floats, weight: Floats, law: Law) -> BestArm:
    """The best arm for a list of possible means theta (..., N, K) with weights (..., N)."""
    hit = weight[..., None] * np.eye(theta.shape[-1])[theta.argmax(axis=-1)]  # (..., N, K)
    p, sums = hit.sum(axis=-2), np.swapaxes(hit, -1, -2) @ theta
    mean = np.einsum("...n,...nk->...k", weight, theta)
    given = np.where(p[..., None] > 0.0, sums / np.where(p > 0.0, p, 1.0)[..., None], mean[..., None, :])
    if law is None:
        return BestArm(p, given, mean)
    if law == "bernoulli":
        return BestArm(p, given, mean, partial(bernoulli_information, p, given, mean))
    return BestArm(p, given, mean, partial(_listed_information, theta, weight, float(law)))


def best_arm_by_draws(belief: SamplesMeans, context: object, samples: int, rng: Generator | None, law: Law) -> BestArm:
    """The best arm, estimated from draws of the belief."""
    rng = check_draws(belief, samples, rng)
    theta = np.stack([belief.sample_means(context, rng) for _ in range(samples)], axis=-2)
    return best_arm_of_list(theta, np.full(theta.shape[:-1], 1.0 / samples), law)


def check_draws(belief: object, samples: int, rng: Generator | None) -> Generator:
    """The generator, which must be given because the belief is sampled."""
    owner = f"{type(belief).__name__}.best_arm"
    integer(owner, "samples", samples, 2)
    if not isinstance(rng, Generator):
        raise InvalidArgument(owner, "rng", "given, since the belief is sampled", rng)
    return rng


# Information ---------------------------------------------------------------------------------------------------------


def bernoulli_information(p: Floats, given: Floats, mean: Floats) -> Floats:
    """I(A*; Y_b) if Y_b is 1 with probability theta_b, else 0."""
    m = mean[..., None, :]
    nats = special.rel_entr(given, m) + special.rel_entr(1.0 - given, 1.0 - m)
    return np.asarray(np.einsum("...a,...ab->...b", p, nats))


def _listed_information(theta: Floats, weight: Floats, noise: float) -> Floats:
    """I(A*; Y_b) if Y_b is N(theta_b, noise^2), over a list of possible means."""
    N, K = theta.shape[-2:]
    gains = []
    for means, w in zip(theta.reshape(-1, N, K), weight.reshape(-1, N), strict=True):
        hit = w * np.eye(K)[means.argmax(axis=-1)].T
        gains.append([_mutual_information(means[:, b], hit, noise) for b in range(K)])
    return np.array(gains).reshape(*theta.shape[:-2], K)


def _normal_information(mean: Floats, deviation: Floats, noise: float) -> Floats:
    """I(A*; Y_b) if Y_b is N(theta_b, noise^2), for independent Gaussian arms."""
    K = mean.shape[-1]
    pairs = [_gaussian_joint(m, s, noise) for m, s in zip(mean.reshape(-1, K), deviation.reshape(-1, K), strict=True)]
    gains = [[_mutual_information(x, J[:, b], noise) for b in range(K)] for x, J in pairs]
    return np.array(gains).reshape(mean.shape)


def _gaussian_joint(mean: Floats, deviation: Floats, noise: float) -> tuple[Floats, Floats]:
    """Nodes x and weights J[a, b, x] of the joint distribution of (A* = a, theta_b = x) for independent Gaussian arms.

    The density is f_a(x) prod_{c != a} F_c(x) for b = a, else f_b(x) int_x^inf f_a prod_{c != a, b} F_c.
    """
    low, high = (mean - DEVIATIONS * deviation).min(), (mean + DEVIATIONS * deviation).max()
    panels = math.ceil((high - low) / (3.0 * min(deviation.min(), noise)))
    half = 0.5 * (high - low) / panels
    x = (low + half * (2.0 * np.arange(panels)[:, None] + 1.0 + NODES)).ravel()
    w = np.tile(half * WEIGHTS, panels)
    z = (x - mean[:, None]) / deviation[:, None]
    f = np.exp(-0.5 * z * z) / (deviation[:, None] * math.sqrt(2.0 * math.pi))
    log_F = np.asarray(special.log_ndtr(z))
    K = len(mean)
    J = np.empty((K, K, len(x)))
    for a in range(K):
        for b in range(K):
            others = log_F.sum(axis=0) - log_F[a] - (log_F[b] if b != a else 0.0)
            h = f[a] * np.exp(others)
            J[a, b] = w * (h if b == a else f[b] * _above(h.reshape(panels, 8), half))
    return x, J


def _above(h: Floats, half: float) -> Floats:
    """The integral of h from each node to the right end, h given at the nodes of panels of this half width."""
    panel = half * (h @ WEIGHTS)
    from_left = np.concatenate([[0.0], np.cumsum(panel)[:-1]])[:, None] + half * (h @ UP_TO.T)
    return np.maximum(panel.sum() - from_left, 0.0).ravel()  # not below 0 by rounding: no probability is


def _mutual_information(x: Floats, J: Floats, noise: float) -> float:
    """I(A; Y) of Y = theta + N(0, noise^2); J[a, x] is the probability of A = a and theta = x."""
    J = J[J.sum(axis=1) > 0.0]
    p = J.sum(axis=1)  # Y is divided by it, since a product with a tiny p may be 0
    low, high = x.min() - DEVIATIONS * noise, x.max() + DEVIATIONS * noise
    panels = math.ceil((high - low) / (3.0 * noise))
    half = 0.5 * (high - low) / panels
    y = (low + half * (2.0 * np.arange(panels)[:, None] + 1.0 + NODES)).ravel()
    density = J @ (np.exp(-0.5 * ((y - x[:, None]) / noise) ** 2) / (noise * math.sqrt(2.0 * math.pi)))  # (K, Y)
    nats = p @ special.rel_entr(density / p[:, None], density.sum(axis=0))
    return max(float(nats @ np.tile(half * WEIGHTS, panels)), 0.0)
