"""Probes of beliefs about rewards."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from draws import one_of
from numpy.random import Generator

from bayesrl.beliefs.mdp.dirichlet_rows import dirichlet_rows
from bayesrl.beliefs.rewards.gaussian_rewards import GaussianRewards
from bayesrl.beliefs.rewards.reward_beta import RewardBeta
from bayesrl.beliefs.rewards.reward_dirichlet import RewardDirichlet
from bayesrl.beliefs.rewards.reward_normal import RewardNormal
from bayesrl.checks import Floats
from bayesrl.core import Transition
from bayesrl.testing import probe_for

Cell = tuple[int, ...]
"""A cell of a table of rewards."""


class RewardTruth(NamedTuple):
    """The truth of a reward belief: the mean of each cell, and other numbers that the likelihood needs."""

    mean: Floats
    rest: Floats


class BetaProbe:
    """Truths are the cells' probabilities of the high reward."""

    def draw(self, belief: RewardBeta, rng: Generator) -> Floats:
        return belief.sample_rewards(rng)

    def datum(self, belief: RewardBeta, theta: Floats, rng: Generator) -> Any:
        cell = _cell(theta.shape, rng)
        return cell, self.paid(belief, theta, cell, rng)

    def paid(self, belief: RewardBeta, theta: Floats, cell: Cell, rng: Generator) -> float:
        """A reward of a cell."""
        p = (theta[cell] - belief.low) / (belief.high - belief.low)
        return belief.high if rng.random() < p else belief.low

    def read(self, belief: RewardBeta, theta: Floats) -> Floats:
        return theta.ravel()

    def expect(self, belief: RewardBeta) -> Floats:
        return belief.mean_rewards().ravel()


class RewardDirichletProbe:
    """Truths are the cells' distributions over the values; the quantities are the mean rewards."""

    def draw(self, belief: RewardDirichlet, rng: Generator) -> Floats:
        return dirichlet_rows(belief.alpha, rng)

    def datum(self, belief: RewardDirichlet, theta: Floats, rng: Generator) -> Any:
        cell = _cell(theta.shape[:-1], rng)
        return cell, self.paid(belief, theta, cell, rng)

    def paid(self, belief: RewardDirichlet, theta: Floats, cell: Cell, rng: Generator) -> float:
        """A reward of a cell."""
        return float(belief.values[one_of(theta[cell], rng)])

    def read(self, belief: RewardDirichlet, theta: Floats) -> Floats:
        return np.asarray(theta @ belief.values).ravel()

    def expect(self, belief: RewardDirichlet) -> Floats:
        return belief.mean_rewards().ravel()


class RewardNormalProbe:
    """Truths are means and precisions; the quantities are the means and the precisions."""

    def draw(self, belief: RewardNormal, rng: Generator) -> RewardTruth:
        precision = rng.gamma(belief.shape, 1.0 / belief.rate)
        mean = rng.normal(belief.mean_, 1.0 / np.sqrt(belief.strength * precision))
        return RewardTruth(mean, precision)

    def datum(self, belief: RewardNormal, theta: RewardTruth, rng: Generator) -> Any:
        cell = _cell(theta.mean.shape, rng)
        return cell, self.paid(belief, theta, cell, rng)

    def paid(self, belief: RewardNormal, theta: RewardTruth, cell: Cell, rng: Generator) -> float:
        """A reward of a cell."""
        return float(rng.normal(theta.mean[cell], 1.0 / np.sqrt(theta.rest[cell])))

    def read(self, belief: RewardNormal, theta: RewardTruth) -> Floats:
        return np.concatenate([theta.mean.ravel(), theta.rest.ravel()])

    def expect(self, belief: RewardNormal) -> Floats:
        return np.concatenate([belief.mean_rewards().ravel(), (belief.shape / belief.rate).ravel()])


class GaussianRewardsProbe:
    """Truths are drawn models; the quantities are the mean rewards of pairs that are not terminal."""

    def draw(self, belief: GaussianRewards, rng: Generator) -> Any:
        return belief.sample_mdp(rng)

    def datum(self, belief: GaussianRewards, theta: Any, rng: Generator) -> Transition:
        o = belief.outcomes
        open_states = np.flatnonzero(~o.terminal)
        s, a = int(open_states[rng.integers(len(open_states))]), int(rng.integers(o.n_actions))
        k = one_of(theta.prob[o.group[s, a]], rng)
        return Transition(s, a, float(rng.normal(theta.mean_reward[s, a], belief.noise)), int(o.succ[s, a, k]))

    def read(self, belief: GaussianRewards, theta: Any) -> Floats:
        return np.asarray(theta.mean_reward[~belief.outcomes.terminal]).ravel()

    def expect(self, belief: GaussianRewards) -> Floats:
        return belief.reward_moments()[0][~belief.outcomes.terminal].ravel()


def _cell(shape: tuple[int, ...], rng: Generator) -> Cell:
    return tuple(int(rng.integers(n)) for n in shape)


probe_for.register(RewardBeta, lambda belief: BetaProbe())
probe_for.register(RewardDirichlet, lambda belief: RewardDirichletProbe())
probe_for.register(RewardNormal, lambda belief: RewardNormalProbe())
probe_for.register(GaussianRewards, lambda belief: GaussianRewardsProbe())
