"""Probes of beliefs about clusters of demonstrations (`inverse/`)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from bayesrl.beliefs.crp import draw_clustering
from bayesrl.beliefs.rewards.bnirl import BNIRL
from bayesrl.beliefs.rewards.dpm_birl import DPMBIRL
from bayesrl.beliefs.rewards.multitask_birl import MultitaskBIRL
from bayesrl.beliefs.rewards.reward_priors import finite
from bayesrl.checks import Floats, Ints
from bayesrl.testing import probe_for

THINGS = 3
"""Things whose goals are the quantities."""
MOST = 12
"""Things of a truth."""
SWEEPS, LAST, RANKED = 3, 150, 8
"""Sweeps after a datum, and after the one at which calibration takes ranks among the draws: it needs many draws."""


class Truth(NamedTuple):
    """The goal that each thing serves, as a number, (MOST,). `seen` has an entry for each datum drawn so far."""

    goals: Ints
    seen: list[int]


class SubGoalProbe:
    """Truths are goals of observations; data are the actions of one observation after the other, in random states.

    After each datum the chain makes a few sweeps. The quantities say which goal the first three observations serve.
    """

    random, data = True, 12
    many, remains = 12, 0.97

    def draw(self, belief: BNIRL, rng: Generator) -> Truth:
        states, known = belief.candidate_states(), len(belief.demonstrations)
        none = np.zeros(0, np.int64)
        first, drawn = belief.sample(rng) if known else (none, none)
        labels = draw_clustering(max(MOST, known), belief.concentration, rng, first)
        of_cluster = rng.integers(len(states), size=len(labels))
        of_cluster[labels[:known]] = np.searchsorted(states, drawn)
        return Truth(of_cluster[labels], [])

    def datum(self, belief: BNIRL, theta: Truth, rng: Generator) -> tuple[int, int]:
        i, s = len(theta.seen), int(rng.integers(belief.problem.n_states))
        theta.seen.append(i)
        p = np.exp(belief._log_policy(int(belief.candidate_states()[theta.goals[i % MOST]]))[s])
        return s, int(rng.random() < p[1])

    def learn(self, belief: BNIRL, datum: tuple[int, int], rng: Generator) -> BNIRL:
        return belief.update(datum).refresh(rng, LAST if len(belief.demonstrations) == RANKED - 1 else SWEEPS)

    def read(self, belief: BNIRL, theta: Truth) -> Floats:
        found = theta.goals[:THINGS, None] == np.arange(len(belief.candidate_states()))
        return np.asarray(found, np.float64).ravel()

    def expect(self, belief: BNIRL) -> Floats:
        G, N, c = len(belief.candidate_states()), len(belief.demonstrations), belief.concentration
        drawn = np.searchsorted(belief.candidate_states(), belief.goals) if N else np.zeros((1, 0), np.int64)
        each = (drawn[:, :, None] == np.arange(G)).mean(axis=0)
        new = (each.sum(axis=0) + c / G) / (N + c)
        return np.concatenate([each[:THINGS], np.repeat(new[None], max(THINGS - N, 0), axis=0)]).ravel()

    def readings(self, belief: BNIRL, n: int, rng: Generator) -> Floats:
        """The quantities of n draws of a belief that has seen at least three observations."""
        goals = np.searchsorted(belief.candidate_states(), belief.goals)[rng.integers(len(belief.goals), size=n)]
        found = goals[:, :THINGS, None] == np.arange(len(belief.candidate_states()))
        return np.asarray(found, np.float64).reshape(n, -1)


class Experts(NamedTuple):
    """The number of each trajectory's reward in the list of a `FinitePrior`, (MOST,), and how many were drawn."""

    kinds: Ints
    seen: list[int]


class ExpertsProbe:
    """Truths are the rewards of experts; data are trajectories of two pairs, in random states, one after the other.

    After each datum the chain makes a few sweeps. The quantities are the weights of the first three trajectories.
    """

    random, data = True, 12
    many, remains = 12, 0.97

    def draw(self, belief: DPMBIRL, rng: Generator) -> Experts:
        known, prior, c = belief.n_trajectories, belief.prior, belief.concentration
        first, w = np.zeros(0, np.int64), np.zeros((0, belief.n_weights))
        if known:
            i = int(rng.integers(len(belief.samples)))
            first, w = belief.assignments[i], belief.samples[i]
        labels = draw_clustering(max(MOST, known), c, rng, first)
        listed = finite(prior)
        assert listed is not None
        kinds = rng.choice(len(listed.weights), int(labels.max()) + 1, p=np.asarray(listed.probabilities))
        kinds[labels[:known]] = [number(prior, one) for one in w]
        return Experts(kinds[labels], [])

    def datum(self, belief: DPMBIRL, theta: Experts, rng: Generator) -> Ints:
        i = len(theta.seen) % MOST
        theta.seen.append(i)
        p = np.exp(belief._log_policies[theta.kinds[i]]).reshape(belief.n_states, belief.n_actions)
        s = rng.integers(belief.n_states, size=2)
        return np.stack([s, rng.random(2) < p[s, 1]], axis=1).astype(np.int64)

    def learn(self, belief: DPMBIRL, datum: Ints, rng: Generator) -> DPMBIRL:
        return belief.update(datum).refresh(rng, LAST if belief.n_trajectories == RANKED - 1 else SWEEPS)

    def read(self, belief: DPMBIRL, theta: Experts) -> Floats:
        listed: Any = belief.prior
        return np.asarray(listed.weights[theta.kinds[:THINGS]]).ravel()

    def expect(self, belief: DPMBIRL) -> Floats:
        N, c, listed = belief.n_trajectories, belief.concentration, finite(belief.prior)
        assert listed is not None
        each = belief.means() if N else np.zeros((0, belief.n_weights))
        new = (each.sum(axis=0) + c * np.asarray(listed.probabilities) @ listed.weights) / (N + c)
        return np.concatenate([each[:THINGS], np.repeat(new[None], max(THINGS - N, 0), axis=0)]).ravel()

    def readings(self, belief: DPMBIRL, n: int, rng: Generator) -> Floats:
        """The quantities of n draws of a belief that has seen at least three trajectories."""
        return np.asarray(belief.samples[rng.integers(len(belief.samples), size=n), :THINGS].reshape(n, -1))


class Tasks(NamedTuple):
    """The number of the common prior, each task's reward, (MOST, d), and how many trajectories were drawn."""

    theta: int
    weights: Floats
    seen: list[int]


class TasksProbe:
    """Truths are the prior and the rewards of tasks; data are trajectories of five pairs, one task after the other.

    The quantities are which prior it is, and the weights of the last task, which has no data. They do not depend on the
    order of the tasks.
    """

    data, many, remains = 2, 30, 0.9

    def draw(self, belief: MultitaskBIRL, rng: Generator) -> Tasks:
        theta, first = belief.sample(rng)
        return Tasks(theta, np.concatenate([first, self.new(belief, theta, MOST, rng)]), [])

    def new(self, belief: MultitaskBIRL, theta: int, n: int, rng: Generator) -> Floats:
        """Rewards of n tasks without data, (n, d)."""
        listed = belief._listed[theta]
        return np.asarray(listed.weights[rng.choice(len(listed.weights), n, p=np.asarray(listed.probabilities))])

    def datum(self, belief: MultitaskBIRL, theta: Tasks, rng: Generator) -> Ints:
        i = len(theta.weights) - MOST + len(theta.seen) % (MOST - 1)
        theta.seen.append(i)
        p = np.exp(belief._log_policies[number(belief._stacked, theta.weights[i])])
        s = rng.integers(belief.n_states, size=5)
        return np.stack([s, rng.random(5) < p.reshape(-1, 2)[s, 1]], axis=1).astype(np.int64)

    def read(self, belief: MultitaskBIRL, theta: Tasks) -> Floats:
        return np.append(np.arange(len(belief.priors)) == theta.theta, theta.weights[-1]).astype(np.float64)

    def expect(self, belief: MultitaskBIRL) -> Floats:
        p = belief.hyper_posterior()
        return np.append(p, p @ [np.asarray(one.probabilities) @ one.weights for one in belief._listed])

    def readings(self, belief: MultitaskBIRL, n: int, rng: Generator) -> Floats:
        """The quantities of n draws: what `read` gives of `draw`, without tasks that have data."""
        K = len(belief.priors)
        times = rng.multinomial(n, belief.hyper_posterior())
        found = [np.hstack([np.tile(np.eye(K)[k], (m, 1)), self.new(belief, k, m, rng)]) for k, m in enumerate(times)]
        return np.asarray(rng.permutation(np.concatenate(found)))


def number(prior: Any, w: Floats) -> int:
    """The place of weights in the list of a `FinitePrior`."""
    return int(np.flatnonzero((prior.weights == w).all(axis=1))[0])


probe_for.register(MultitaskBIRL, lambda belief: TasksProbe())
probe_for.register(DPMBIRL, lambda belief: ExpertsProbe())
probe_for.register(BNIRL, lambda belief: SubGoalProbe())
