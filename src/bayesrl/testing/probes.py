"""Probes: how the laws draw a truth theta from a belief, draw data given theta, and compute test quantities.

A test quantity is a vector of numbers computed from theta; the probe also gives its exact expectation under the belief.
`probe_for` finds the probe of a belief; tests may pass their own.
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.random import Generator

from bayesrl.beliefs.mdp.dirichlet_mdp import DirichletMDP
from bayesrl.beliefs.mdp.dirichlet_mixture import DirichletMixture
from bayesrl.beliefs.mdp.dirichlet_rows import dirichlet_rows
from bayesrl.beliefs.mdp.sparse_dirichlet import SparseDirichletMDP
from bayesrl.beliefs.mdp.unknown_rewards import UnknownRewards
from bayesrl.beliefs.rewards.gaussian_rewards import GaussianRewards
from bayesrl.beliefs.rewards.reward_beta import RewardBeta
from bayesrl.beliefs.rewards.reward_dirichlet import RewardDirichlet
from bayesrl.beliefs.rewards.reward_normal import RewardNormal
from bayesrl.checks import Floats
from bayesrl.core import Transition


class Probe(Protocol):
    """The generative side of a belief."""

    def draw(self, belief: Any, rng: Generator) -> Any:
        """A truth theta from the belief."""

    def datum(self, belief: Any, theta: Any, rng: Generator) -> Any:
        """A datum from the likelihood of theta."""

    def read(self, belief: Any, theta: Any) -> Floats:
        """The test quantities of theta."""

    def expect(self, belief: Any) -> Floats:
        """Their exact expectation under the belief."""


@singledispatch
def probe_for(belief: Any) -> Probe:
    """The probe of a belief."""
    raise NotImplementedError(f"no probe for {type(belief).__name__}: register one with probe_for.register")


def learned(probe: Probe, belief: Any, datum: Any, rng: Generator | None) -> Any:
    """The posterior after a datum. A probe whose data are episodes says itself how a belief learns from one."""
    learn = getattr(probe, "learn", None)
    return belief.update(datum, rng) if learn is None else learn(belief, datum, rng)


def readings(probe: Probe, belief: Any, n: int, rng: Generator) -> Floats:
    """The test quantities of n truths drawn from a belief, (n, quantities). A probe may draw them all at once."""
    at_once = getattr(probe, "readings", None)
    if at_once is not None:
        return np.asarray(at_once(belief, n, rng))
    return np.array([probe.read(belief, probe.draw(belief, rng)) for _ in range(n)])


def one_of(p: Floats, rng: Generator) -> int:
    """An index with these probabilities: that of `rng.choice(len(p), p=p)`, in a fifth of its time."""
    below = p.cumsum()
    assert abs(below[-1] - 1.0) <= 1.5e-8, f"probabilities sum to {below[-1]}"
    assert p.min() >= 0.0, f"a probability is {p.min()}"
    below /= below[-1]
    return int(below.searchsorted(rng.random(), side="right"))


class DirichletProbe:
    """Truths are models; data are transitions from random state-action pairs; quantities are probabilities."""

    def draw(self, belief: DirichletMDP, rng: Generator) -> Any:  # noqa: D102
        return belief.sample_mdp(rng)

    def datum(self, belief: DirichletMDP, theta: Any, rng: Generator) -> Transition:  # noqa: D102
        s, a, k = self.outcome(belief, theta.prob, rng)
        o = belief.outcomes
        return Transition(s, a, float(o.reward[s, a, k]), int(o.succ[s, a, k]))

    def outcome(self, belief: DirichletMDP, prob: Floats, rng: Generator) -> tuple[int, int, int]:
        """A random pair (s, a) that is not terminal, and an outcome of it."""
        o = belief.outcomes
        open_states = np.flatnonzero(~o.terminal)
        s = int(open_states[rng.integers(len(open_states))])
        a = int(rng.integers(o.n_actions))
        return s, a, one_of(prob[o.group[s, a]], rng)

    def read(self, belief: DirichletMDP, theta: Any) -> Floats:  # noqa: D102
        return np.asarray(theta.prob[belief.outcomes.valid])

    def expect(self, belief: DirichletMDP) -> Floats:  # noqa: D102
        return np.asarray(belief.mean_mdp().prob[belief.outcomes.valid])


class SparseProbe:
    """The same, and what a drawn row says about its total count: those seen, and alpha for each possible outcome."""

    draw, datum, outcome = DirichletProbe.draw, DirichletProbe.datum, DirichletProbe.outcome
    read, expect = DirichletProbe.read, DirichletProbe.expect

    def counts(self, belief: SparseDirichletMDP, rows: Floats) -> Floats:
        """The total count of each group, (G,), if these rows (G, K) have been drawn."""
        return np.asarray(belief.seen_counts.sum(axis=1) + belief.concentration * (rows > 0.0).sum(axis=1))


Cell = tuple[int, ...]
"""A cell of a table of rewards."""


class RewardTruth(NamedTuple):
    """The truth of a reward belief: the mean of each cell, and other numbers that the likelihood needs."""

    mean: Floats
    rest: Floats


class BetaProbe:
    """Truths are the cells' probabilities of the high reward."""

    def draw(self, belief: RewardBeta, rng: Generator) -> Floats:  # noqa: D102
        return belief.sample_rewards(rng)

    def datum(self, belief: RewardBeta, theta: Floats, rng: Generator) -> Any:  # noqa: D102
        cell = _cell(theta.shape, rng)
        return cell, self.paid(belief, theta, cell, rng)

    def paid(self, belief: RewardBeta, theta: Floats, cell: Cell, rng: Generator) -> float:
        """A reward of a cell."""
        p = (theta[cell] - belief.low) / (belief.high - belief.low)
        return belief.high if rng.random() < p else belief.low

    def read(self, belief: RewardBeta, theta: Floats) -> Floats:  # noqa: D102
        return theta.ravel()

    def expect(self, belief: RewardBeta) -> Floats:  # noqa: D102
        return belief.mean_rewards().ravel()


class RewardDirichletProbe:
    """Truths are the cells' distributions over the values; the quantities are the mean rewards."""

    def draw(self, belief: RewardDirichlet, rng: Generator) -> Floats:  # noqa: D102
        return dirichlet_rows(belief.alpha, rng)

    def datum(self, belief: RewardDirichlet, theta: Floats, rng: Generator) -> Any:  # noqa: D102
        cell = _cell(theta.shape[:-1], rng)
        return cell, self.paid(belief, theta, cell, rng)

    def paid(self, belief: RewardDirichlet, theta: Floats, cell: Cell, rng: Generator) -> float:
        """A reward of a cell."""
        return float(belief.values[one_of(theta[cell], rng)])

    def read(self, belief: RewardDirichlet, theta: Floats) -> Floats:  # noqa: D102
        return np.asarray(theta @ belief.values).ravel()

    def expect(self, belief: RewardDirichlet) -> Floats:  # noqa: D102
        return belief.mean_rewards().ravel()


class RewardNormalProbe:
    """Truths are means and precisions; the quantities are the means and the precisions."""

    def draw(self, belief: RewardNormal, rng: Generator) -> RewardTruth:  # noqa: D102
        precision = rng.gamma(belief.shape, 1.0 / belief.rate)
        mean = rng.normal(belief.mean_, 1.0 / np.sqrt(belief.strength * precision))
        return RewardTruth(mean, precision)

    def datum(self, belief: RewardNormal, theta: RewardTruth, rng: Generator) -> Any:  # noqa: D102
        cell = _cell(theta.mean.shape, rng)
        return cell, self.paid(belief, theta, cell, rng)

    def paid(self, belief: RewardNormal, theta: RewardTruth, cell: Cell, rng: Generator) -> float:
        """A reward of a cell."""
        return float(rng.normal(theta.mean[cell], 1.0 / np.sqrt(theta.rest[cell])))

    def read(self, belief: RewardNormal, theta: RewardTruth) -> Floats:  # noqa: D102
        return np.concatenate([theta.mean.ravel(), theta.rest.ravel()])

    def expect(self, belief: RewardNormal) -> Floats:  # noqa: D102
        return np.concatenate([belief.mean_rewards().ravel(), (belief.shape / belief.rate).ravel()])


class GaussianRewardsProbe:
    """Truths are drawn models; the quantities are the mean rewards of pairs that are not terminal."""

    def draw(self, belief: GaussianRewards, rng: Generator) -> Any:  # noqa: D102
        return belief.sample_mdp(rng)

    def datum(self, belief: GaussianRewards, theta: Any, rng: Generator) -> Transition:  # noqa: D102
        o = belief.outcomes
        open_states = np.flatnonzero(~o.terminal)
        s, a = int(open_states[rng.integers(len(open_states))]), int(rng.integers(o.n_actions))
        k = one_of(theta.prob[o.group[s, a]], rng)
        return Transition(s, a, float(rng.normal(theta.mean_reward[s, a], belief.noise)), int(o.succ[s, a, k]))

    def read(self, belief: GaussianRewards, theta: Any) -> Floats:  # noqa: D102
        return np.asarray(theta.mean_reward[~belief.outcomes.terminal]).ravel()

    def expect(self, belief: GaussianRewards) -> Floats:  # noqa: D102
        return belief.reward_moments()[0][~belief.outcomes.terminal].ravel()


class UnknownRewardsProbe:
    """Truths are pairs: probabilities, and the reward belief's own truth."""

    def draw(self, belief: UnknownRewards, rng: Generator) -> Any:  # noqa: D102
        return belief.transitions.sample_mdp(rng), probe_for(belief.rewards).draw(belief.rewards, rng)

    def datum(self, belief: UnknownRewards, theta: Any, rng: Generator) -> Transition:  # noqa: D102
        s, a, k = DirichletProbe().outcome(belief.transitions, theta[0].prob, rng)
        probe: Any = probe_for(belief.rewards)
        r = probe.paid(belief.rewards, theta[1], belief.cell(s, a, k), rng)
        return Transition(s, a, r, int(belief.outcomes.succ[s, a, k]))

    def read(self, belief: UnknownRewards, theta: Any) -> Floats:  # noqa: D102
        inner = probe_for(belief.rewards)
        first = DirichletProbe().read(belief.transitions, theta[0])
        return np.concatenate([first, inner.read(belief.rewards, theta[1])])

    def expect(self, belief: UnknownRewards) -> Floats:  # noqa: D102
        inner = probe_for(belief.rewards)
        return np.concatenate([DirichletProbe().expect(belief.transitions), inner.expect(belief.rewards)])


def _cell(shape: tuple[int, ...], rng: Generator) -> Cell:
    return tuple(int(rng.integers(n)) for n in shape)


probe_for.register(DirichletMDP, lambda belief: DirichletProbe())
probe_for.register(DirichletMixture, lambda belief: DirichletProbe())
probe_for.register(SparseDirichletMDP, lambda belief: SparseProbe())
probe_for.register(RewardBeta, lambda belief: BetaProbe())
probe_for.register(RewardDirichlet, lambda belief: RewardDirichletProbe())
probe_for.register(RewardNormal, lambda belief: RewardNormalProbe())
probe_for.register(GaussianRewards, lambda belief: GaussianRewardsProbe())
probe_for.register(UnknownRewards, lambda belief: UnknownRewardsProbe())
