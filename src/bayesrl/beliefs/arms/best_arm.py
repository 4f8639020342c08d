"""The best arm under a posterior, and the information that a play of each arm gives about it.

Let A* be the best arm, p its distribution, theta_b the mean reward of arm b, and Y_b a reward of arm b. Every belief
about arms offers `best_arm`, which returns p, E[theta_b | A* = a] and the information g_b = I(A*; Y_b). Beliefs share
these computations:

    best_arm_of_betas, best_arm_of_normals   numerical integration (kernels/best_arm.py), errors below 1e-8
    best_arm_of_priced_betas                 the same, each Beta times a price
    best_arm_of_list                         sums over a list of possible means with weights
    best_arm_by_draws                        sums over draws from the belief

The information is computed for rewards that are 0 or 1 and for Gaussian rewards. The estimate from draws is too large
by about K / (2 samples).
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.random import Generator
from scipy import special

from bayesrl.capabilities import BestArm, SamplesMeans
from bayesrl.checks import Floats, integer
from bayesrl.errors import InvalidArgument
from bayesrl.kernels.best_arm import (
    DEVIATIONS,
    NODES,
    OF_NODES,
    PANELS,
    UP_TO,
    WEIGHTS,
    best_beta,
    best_normal,
    best_priced_beta,
    panels,
)
from bayesrl.kernels.ties import greedy

Law = Literal["bernoulli"] | float | None
"""The distribution of a reward given its mean: Bernoulli, Gaussian with this standard deviation, or other (None)."""
FEW, FINE = 7, 15
"""Panels of a Gaussian density: few, or fine if rewards have less noise, as it is then interpolated."""
FIVE = 0.1 * (2.0 * np.arange(5)[:, None] + 1.0 + NODES).ravel(), 0.1 * np.tile(WEIGHTS, 5)
"""Nodes and weights of five panels of [0, 1]."""
DRAWS = 10_000
"""Default number of draws from a belief that can be neither integrated nor listed."""


# The best arm --------------------------------------------------------------------------------------------------------


def best_arm_of_betas(alpha: Floats, beta: Floats, mean: Floats) -> BestArm:
    """The best arm if means are Beta(alpha, beta) and rewards are 0 or 1."""
    p, given = best_beta(alpha, beta)
    return BestArm(p, given, mean, partial(bernoulli_information, p, given, mean))


def best_arm_of_priced_betas(alpha: Floats, beta: Floats, prices: Floats) -> BestArm:
    """The best arm if means are price times Beta(alpha, beta) and rewards are 0 or the price."""
    p, given = best_priced_beta(alpha, beta, prices)
    chance = alpha / (alpha + beta)
    return BestArm(p, given, prices * chance, partial(bernoulli_information, p, given / prices, chance))


def best_arm_of_normals(mean: Floats, deviation: Floats, noise: float) -> BestArm:
    """The best arm if means are N(mean, deviation^2) and rewards are Gaussian."""
    p, given = best_normal(mean, deviation)
    return BestArm(p, given, mean, partial(_normal_information, mean, deviation, noise))


def best_arm_of_list(theta: Floats, weight: Floats, law: Law) -> BestArm:
    """The best arm for a list of possible means theta (..., N, K) with weights (..., N)."""
    K = theta.shape[-1]
    hit = weight[..., None] * np.eye(K)[greedy(theta.reshape(-1, K))].reshape(theta.shape)  # (..., N, K)
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
        hit = w * np.eye(K)[greedy(means)].T
        gains.append([_mutual_information(means[:, b], hit, noise) for b in range(K)])
    return np.array(gains).reshape(*theta.shape[:-2], K)


def _normal_information(mean: Floats, deviation: Floats, noise: float) -> Floats:
    """I(A*; Y_b) if Y_b is N(theta_b, noise^2), for independent Gaussian arms."""
    K = mean.shape[-1]
    rows = zip(mean.reshape(-1, K), deviation.reshape(-1, K), strict=True)
    return np.array([_gaussian_information(m, s, noise) for m, s in rows]).reshape(mean.shape)


def _gaussian_information(mean: Floats, deviation: Floats, noise: float) -> Floats:
    """The same of K arms. Those that cannot be the best tell nothing and do not matter to the others."""
    gains, worst = np.zeros(len(mean)), mean - DEVIATIONS * deviation
    rivals = np.flatnonzero(mean + DEVIATIONS * deviation > worst.max())
    m, s = mean[rivals] - mean[worst.argmax()], deviation[rivals]
    if len(rivals) > 1:
        fine = 2.0 * DEVIATIONS * s.max() > FEW * 3.0 * noise
        x, v, half, J = _gaussian_joint(m, s, FINE if fine else FEW)
        spread = np.hypot(s, noise)  # an arm c changes the law of Y within its spread
        for b, arm in enumerate(rivals):
            low, high = m[b] - DEVIATIONS * spread[b], m[b] + DEVIATIONS * spread[b]
            y, w, _ = panels(m, spread, low, high, PANELS)
            T = (v / (noise * math.sqrt(2.0 * math.pi)))[:, None] * np.exp(-0.5 * ((y - x[:, None]) / noise) ** 2)
            if fine:
                _interpolate(T, x, half, noise, y)
            gains[arm] = _nats(J[:, b] @ T, J[:, b] @ v, w)
    return gains


def _gaussian_joint(mean: Floats, deviation: Floats, each: int) -> tuple[Floats, Floats, Floats, Floats]:
    """Nodes x, weights and half widths of panels, and the joint density J[a, b, x] of A* = a and theta_b = x.

    It is f_a(x) prod_{c != a} F_c(x) for b = a, else f_b(x) int_x^inf f_a prod_{c != a, b} F_c.
    """
    low, high = (mean - DEVIATIONS * deviation).min(), (mean + DEVIATIONS * deviation).max()
    x, w, half = panels(mean, deviation, low, high, each)
    z = (x - mean[:, None]) / deviation[:, None]
    f = np.exp(-0.5 * z * z) / (deviation[:, None] * math.sqrt(2.0 * math.pi))
    log_F = np.asarray(special.log_ndtr(z))
    K, together = len(mean), log_F.sum(axis=0)
    J = np.empty((K, K, z.shape[1]))
    for a in range(K):
        others = together - log_F[a]
        J[a, a] = f[a] * np.exp(others)
        for b in range(K):
            if b != a:
                J[a, b] = f[b] * _above((f[a] * np.exp(others - log_F[b])).reshape(-1, 8), half)
    return x, w, half, J


def _above(h: Floats, half: Floats) -> Floats:
    """The integral of h from each node to the right end, h given at the nodes of panels of these half widths."""
    panel = half * (h @ WEIGHTS)
    from_left = np.concatenate([[0.0], np.cumsum(panel)[:-1]])[:, None] + half[:, None] * (h @ UP_TO.T)
    return np.maximum(panel.sum() - from_left, 0.0).ravel()  # not below 0 by rounding: no probability is


def _interpolate(T: Floats, x: Floats, half: Floats, noise: float, y: Floats) -> None:
    """Correct T[x, y], the weight of J(x) in int J(x) N(y | x, noise^2) dx, in panels that are wide beside the noise.

    There it is the integral of the polynomial that is 1 at x and 0 at the panel's other nodes, over five panels around
    y.
    """
    wide = 2.0 * half > 3.0 * noise
    h, middle = half[wide, None], x.reshape(-1, 8)[wide][:, [0, 7]].mean(axis=1, keepdims=True)
    v, tau = (y - middle) / h, np.broadcast_to(noise / h, (len(h), len(y)))  # in units of the panel
    low, high = np.maximum(v - DEVIATIONS * tau, -1.0), np.minimum(v + DEVIATIONS * tau, 1.0)
    meet = low < high
    low, high, v, tau = (q[meet][:, None] for q in (low, high, v, tau))
    u = low + (high - low) * FIVE[0]
    density = (high - low) * FIVE[1] * np.exp(-0.5 * ((u - v) / tau) ** 2) / (tau * math.sqrt(2.0 * math.pi))
    inside = np.zeros((*meet.shape, 8))
    inside[meet] = np.einsum("pt,ptn->pn", density, u[:, :, None] ** np.arange(8)) @ OF_NODES
    T[np.repeat(wide, 8)] = inside.transpose(0, 2, 1).reshape(-1, len(y))


def _mutual_information(x: Floats, J: Floats, noise: float) -> float:
    """I(A; Y) of Y = theta + N(0, noise^2); J[a, x] is the probability of A = a and theta = x."""
    low, high = x.min() - DEVIATIONS * noise, x.max() + DEVIATIONS * noise
    n = math.ceil((high - low) / (3.0 * noise))
    half = 0.5 * (high - low) / n
    near: Any = np.arange(n) if n <= 7 * len(x) else ((x - low) // (2.0 * half))[:, None] + np.arange(-3, 4)
    kept = np.unique(np.clip(near, 0, n - 1))
    y, w = (low + half * (2.0 * kept[:, None] + 1.0 + NODES)).ravel(), np.tile(half * WEIGHTS, len(kept))
    density = J @ (np.exp(-0.5 * ((y - x[:, None]) / noise) ** 2) / (noise * math.sqrt(2.0 * math.pi)))  # (K, Y)
    return _nats(density, J.sum(axis=1), w)


def _nats(density: Floats, p: Floats, w: Floats) -> float:
    """I(A; Y) from the density of A = a and Y = y, (A, Y), the probability of A, (A,), and the weights of the y."""
    density, p = np.maximum(density[p > 0.0], 0.0), p[p > 0.0]
    given = density / p[:, None]  # not the product of p and the marginal, since with a tiny p that may be 0
    return max(float(p @ special.rel_entr(given, density.sum(axis=0)) @ w), 0.0)
