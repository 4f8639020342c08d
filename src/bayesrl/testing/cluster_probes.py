"""Probes of beliefs about clusters of demonstrations (`inverse/`)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from bayesrl.beliefs._crp import draw_clustering
from bayesrl.checks import Floats, Ints
from bayesrl.inverse.bnirl import BNIRL
from bayesrl.testing.probes import probe_for

THINGS = 3
"""Things whose goals are the quantities."""
MOST = 20
"""Things of a truth."""
SWEEPS = 5


class Truth(NamedTuple):
    """What each thing serves: the number of a goal, (MOST,). `seen` has an entry for each datum drawn so far."""

    goals: Ints
    seen: list[int]


class SubGoalProbe:
    """Truths are goals of observations; data are the actions of one observation after the other, in random states.

    After each datum the chain makes five sweeps. The quantities say which goal the first three observations serve.
    """

    random, data = True, 12
    many, remains = 20, 0.95

    def draw(self, belief: BNIRL, rng: Generator) -> Truth:  # noqa: D102
        states, known = belief.candidate_states(), len(belief.demonstrations)
        none = np.zeros(0, np.int64)
        first, drawn = belief.sample(rng) if known else (none, none)
        labels = draw_clustering(max(MOST, known), belief.concentration, rng, first)
        of_cluster = rng.integers(len(states), size=len(labels))
        of_cluster[labels[:known]] = np.searchsorted(states, drawn)
        return Truth(of_cluster[labels], [])

    def datum(self, belief: BNIRL, theta: Truth, rng: Generator) -> tuple[int, int]:  # noqa: D102
        i, s = len(theta.seen), int(rng.integers(belief.problem.n_states))
        theta.seen.append(i)
        p = np.exp(belief._log_policy(int(belief.candidate_states()[theta.goals[i % MOST]]))[s])
        return s, int(rng.random() < p[1])

    def learn(self, belief: BNIRL, datum: tuple[int, int], rng: Generator) -> BNIRL:  # noqa: D102
        return belief.update(datum).refresh(rng, SWEEPS)

    def read(self, belief: BNIRL, theta: Truth) -> Floats:  # noqa: D102
        found = theta.goals[:THINGS, None] == np.arange(len(belief.candidate_states()))
        return np.asarray(found, np.float64).ravel()

    def expect(self, belief: BNIRL) -> Floats:  # noqa: D102
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


probe_for.register(BNIRL, lambda belief: SubGoalProbe())
