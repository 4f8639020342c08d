"""Probes of beliefs about continuous dynamics."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from bayesrl.beliefs.dynamics.gp_dynamics import GPDynamics
from bayesrl.beliefs.dynamics.normal_wishart import NormalWishart
from bayesrl.beliefs.dynamics.normal_wishart_dynamics import NormalWishartDynamics
from bayesrl.checks import Floats
from bayesrl.core import Transition
from bayesrl.testing import Probe, probe_for


class GPDynamicsProbe:
    """A truth is what follows three pairs of a state (two coordinates) and an action. Data start at these pairs."""

    states = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, -1.0]])
    actions = np.array([[0.0], [1.0], [-1.0]])

    def draw(self, belief: GPDynamics, rng: Generator) -> Floats:
        return np.asarray(self.truths(belief, 1, rng)[0])

    def truths(self, belief: GPDynamics, n: int, rng: Generator) -> Floats:
        """As many truths, (n, 3, 2)."""
        Z = np.hstack([self.states, self.actions])
        drawn = np.tile(np.zeros((3, 2)) if belief.mean == "zero" else self.states, (n, 1, 1))
        for prior, data, columns, _ in belief.groups(2, 3):
            U = data.project(prior, Z)
            root = np.linalg.cholesky(prior.matrix(Z, Z) - U.T @ U + 1e-12 * np.eye(3))
            drawn[:, :, columns] += U.T @ data.w + root @ rng.standard_normal((n, 3, len(columns)))
        return drawn

    def datum(self, belief: GPDynamics, theta: Floats, rng: Generator) -> Transition:
        i = int(rng.integers(3))
        return Transition(self.states[i], self.actions[i], 0.0, rng.normal(theta[i], belief.noise))

    def read(self, belief: GPDynamics, theta: Floats) -> Floats:
        return theta.ravel()

    def readings(self, belief: GPDynamics, n: int, rng: Generator) -> Floats:
        """Of n truths."""
        return self.truths(belief, n, rng).reshape(n, -1)

    def expect(self, belief: GPDynamics) -> Floats:
        return np.concatenate([belief.predictive(s, a)[0] for s, a in zip(self.states, self.actions, strict=True)])


Model = tuple[Floats, Floats]
"""A mean and a precision."""


def normal(model: Model, rng: Generator) -> Floats:
    """A draw from a normal distribution of that mean and precision."""
    mean, precision = model
    return np.asarray(mean + np.linalg.solve(np.linalg.cholesky(precision).T, rng.standard_normal(len(mean))))


def entries(model: Model) -> Floats:
    """The mean, and the precision on and below its diagonal."""
    mean, precision = model
    return np.concatenate([mean, precision[np.tril_indices(len(mean))]])


class NormalWishartProbe:
    """Truths are a mean and a precision."""

    def draw(self, belief: NormalWishart, rng: Generator) -> Model:
        return belief.sample(rng)

    def datum(self, belief: NormalWishart, theta: Model, rng: Generator) -> Floats:
        return normal(theta, rng)

    def read(self, belief: NormalWishart, theta: Model) -> Floats:
        return entries(theta)

    def expect(self, belief: NormalWishart) -> Floats:
        return entries((belief.mean, np.asarray(belief.degrees * np.linalg.inv(belief.scatter), np.float64)))


class SeenNoiseProbe:
    """The same for the noise of dynamics whose states are seen: data are transitions from random states."""

    def draw(self, belief: NormalWishartDynamics, rng: Generator) -> Model:
        return belief.sample_noise(rng)

    def datum(self, belief: NormalWishartDynamics, theta: Model, rng: Generator) -> Transition:
        s, a = rng.standard_normal((2, len(theta[0])))
        return Transition(s, a, 0.0, belief.transition(s[None], a, normal(theta, rng)[None])[0])

    def read(self, belief: NormalWishartDynamics, theta: Model) -> Floats:
        return entries(theta)

    def expect(self, belief: NormalWishartDynamics) -> Floats:
        assert isinstance(belief.noise, NormalWishart)
        return NormalWishartProbe().expect(belief.noise)


class HiddenNoiseProbe(NamedTuple):
    """For particles: truths are the models of both noises, and a datum is an episode of `length` steps.

    The quantities are the means of both noises and the traces of their covariances.
    """

    length: int = 3
    approximate: bool = True
    """Whether only purity, concentration and moments are checked."""
    random: bool = True
    remains: float = 0.7
    """In 30 runs .31 of the prior's error remained; the mean of 12 margins was 4.8 standard errors above zero."""
    data: int = 2
    many: int = 30

    def draw(self, belief: NormalWishartDynamics, rng: Generator) -> tuple[Model, Model]:
        sample = belief._sample()
        i = int(rng.choice(len(sample.weights), p=sample.weights))
        one = sample.chosen(np.array([i]))  # both noises of one particle
        return one.model(one.noise, rng), one.model(one.sensor, rng)

    def datum(self, belief: NormalWishartDynamics, theta: tuple[Model, Model], rng: Generator) -> list[Transition]:
        assert belief.observation is not None
        mean, covariance = belief.restart().state_moments()
        s, steps = rng.multivariate_normal(mean, covariance)[None], []
        for t in range(self.length):
            a = rng.standard_normal(len(mean))
            s = belief.transition(s, a, normal(theta[0], rng)[None])
            z = belief.observation(s, a, normal(theta[1], rng)[None])[0]
            steps.append(Transition(None, a, 0.0, z, truncated=t + 1 == self.length))
        return steps

    def learn(
        self, belief: NormalWishartDynamics, steps: list[Transition], rng: Generator | None
    ) -> NormalWishartDynamics:
        return belief.update_many(steps, rng)

    def read(self, belief: NormalWishartDynamics, theta: tuple[Model, Model]) -> Floats:
        spreads = [float(np.trace(np.linalg.inv(precision))) for _, precision in theta]
        return np.concatenate([theta[0][0], theta[1][0], spreads])

    def expect(self, belief: NormalWishartDynamics) -> Floats:
        both = belief.noise_moments(), belief.sensor_moments()
        return np.concatenate([both[0][0], both[1][0], [float(np.trace(S)) for _, S in both]])


def of_dynamics(belief: NormalWishartDynamics) -> Probe:
    """The probe of dynamics with unknown noise."""
    return HiddenNoiseProbe() if belief.hidden else SeenNoiseProbe()


PROBES: dict[type, Probe] = {GPDynamics: GPDynamicsProbe(), NormalWishart: NormalWishartProbe()}
for kind, probe in PROBES.items():
    probe_for.register(kind, lambda belief, probe=probe: probe)
probe_for.register(NormalWishartDynamics, of_dynamics)
