"""A probe of beliefs about linear dynamics."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from bayesrl.beliefs.dynamics.linear_gaussian_dynamics import LinearGaussianDynamics
from bayesrl.checks import Floats
from bayesrl.core import Transition
from bayesrl.testing import probe_for


class LinearProbe:
    """Truths are parameters Theta, data are steps from random states and actions.

    The quantities are the entries of Theta, and their products with those of the column before.
    """

    def draw(self, belief: LinearGaussianDynamics, rng: Generator) -> Floats:
        return belief.sample_parameters(rng)

    def datum(self, belief: LinearGaussianDynamics, theta: Floats, rng: Generator) -> Transition:
        p, n = theta.shape
        x, u = rng.standard_normal(n), rng.standard_normal(p - n)
        y = theta.T @ np.concatenate([x, u]) + belief.spread @ rng.standard_normal(n)
        return Transition(x, u, 0.0, y)

    def read(self, belief: LinearGaussianDynamics, theta: Floats) -> Floats:
        return np.concatenate([theta.T.ravel(), (theta * np.roll(theta, 1, axis=1)).T.ravel()])

    def expect(self, belief: LinearGaussianDynamics) -> Floats:
        p, n = belief.theta.shape
        spread = belief.covariance().reshape(n, p, n, p)
        beside = np.array([np.diagonal(spread[j, :, (j - 1) % n]) for j in range(n)])
        products = beside + (belief.theta * np.roll(belief.theta, 1, axis=1)).T
        return np.concatenate([belief.theta.T.ravel(), products.ravel()])


probe_for.register(LinearGaussianDynamics, lambda belief: LinearProbe())
