"""Models drawn from a belief as arrays: probabilities of the next states of pairs, and mean rewards of pairs.

A solver that draws thousands of models cannot make each of them an object. Beliefs that list their models are tables of
which only columns are drawn. Independent Dirichlet rows and Gaussian rewards are drawn in bulk, with the law of
`sample_mdp`. Every other belief draws one model after another.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.sparse import csr_array

from bayesrl.beliefs.mdp.dirichlet_rows import dirichlet_rows
from bayesrl.capabilities import (
    HasDirichletRows,
    HasMeanMDP,
    HasRewardMoments,
    HasRowVariance,
    ListsMDPs,
    ListsOutcomes,
    SamplesMDPs,
    offers,
)
from bayesrl.checks import Bools, Floats, Ints, all_frozen
from bayesrl.kernels.arrays import F2, I1
from bayesrl.models.mdp import TabularMDP
from bayesrl.risk._information_sets import histories, pairs_in_time, possible_in, share_transitions
from bayesrl.risk.models import models_of, require_belief


class Table(NamedTuple):
    """Some models as columns."""

    prob: F2
    """The probability of each listed next state of each pair, (L, m)."""
    reward: F2
    """The mean reward of each pair, (S A, m)."""


class Drawn:
    """A belief, the information sets of its models over a horizon, and draws of models as columns of tables."""

    weights: Floats | None = None
    """Probabilities of the models of a belief that lists them."""
    all: Table
    """All models of such a belief."""
    model: TabularMDP
    """One of the models: its start, ends and discount are those of all."""

    def __init__(self, owner: str, belief: SamplesMDPs, horizon: int, nodes: int, rng: Generator) -> None:
        require_belief(owner, belief, ListsMDPs if offers(belief, ListsMDPs) else SamplesMDPs)
        self.belief = belief
        if offers(belief, ListsMDPs):
            models, self.weights, _ = models_of(owner, belief, 0, rng)
            self.model, possible, shared = models[0], possible_in(models), share_transitions(models)
        else:
            self.model = belief.mean_mdp() if offers(belief, HasMeanMDP) else belief.sample_mdp(rng)
            possible, shared = _listed(belief, self.model), _knows_transitions(belief)
        made = pairs_in_time(owner, self.model, horizon, nodes) if shared else None
        self.sets = made or histories(owner, self.model, possible, horizon, nodes)
        ends = self.model.outcomes.terminal
        goes_on = possible & ~ends & ~np.repeat(ends, self.model.n_actions)[:, None]
        self.pair, self.seen = np.nonzero(goes_on & self.sets.histories)
        """The pair and the next state of each listed one, (L,). Shared transitions need not be listed."""
        if self.weights is not None:
            self.all = _columns(models, self.pair, self.seen)

    def columns(self, m: int, rng: Generator) -> tuple[Table, I1]:
        """Draw m models: a table, and their columns in it."""
        belief = self.belief
        if self.weights is not None:
            return self.all, rng.choice(len(self.weights), m, p=self.weights)
        if offers(belief, HasDirichletRows):
            rows = dirichlet_rows(np.broadcast_to(belief.alpha, (m, *belief.alpha.shape)), rng)
            rows[:, belief.known] = belief.alpha[belief.known]
            table = Table(*(map_ @ rows.reshape(m, -1).T for map_ in self._maps))
        elif offers(belief, HasRewardMoments):
            mean, covariance = belief.reward_moments()
            reward = rng.multivariate_normal(mean.ravel(), covariance, m, method="eigh").T
            reward[np.repeat(self.model.outcomes.terminal, self.model.n_actions)] = 0.0
            table = Table(np.empty((0, m)), reward)
        else:
            table = _columns(tuple(belief.sample_mdp(rng) for _ in range(m)), self.pair, self.seen)
        return all_frozen(Table(*map(np.ascontiguousarray, table))), np.arange(m)

    @cached_property
    def _maps(self) -> tuple[csr_array, csr_array]:
        """From the probabilities of groups (G K) to listed next states (L, G K) and mean rewards (S A, G K)."""
        model, G, K = self.model, *self.model.prob.shape
        (S, A), L = model.group.shape, len(self.pair)
        s, a, k = np.nonzero(model.outcomes.valid[model.group])
        cell = model.group[s, a] * K + k
        place = np.full((S * A, S), L)
        place[self.pair, self.seen] = np.arange(L)
        row = place[s * A + a, model.succ[s, a, k]]
        to_next = csr_array(((row < L) * 1.0, (row, cell)), shape=(L + 1, G * K))[:L, :]
        return to_next, csr_array((model.reward[s, a, k], (s * A + a, cell)), shape=(S * A, G * K))

    @property
    def size(self) -> int:
        """Numbers in memory for each drawn model; 1 if only its column is drawn."""
        return 1 if self.weights is not None else len(self.pair) + self.model.group.size + self.model.prob.size


def _knows_transitions(belief: object) -> bool:
    """Whether a belief says that its transitions are certain."""
    return offers(belief, HasRewardMoments) or (offers(belief, HasRowVariance) and not belief.row_variance().any())


def _listed(belief: object, model: TabularMDP) -> Bools:
    """The next states that a belief's outcomes list, (S A, S); all, if it lists none."""
    S, A = model.group.shape
    listed = np.zeros((S * A, S), np.bool_)
    if not offers(belief, ListsOutcomes):
        return ~listed
    s, a, k = np.nonzero(belief.outcomes.valid[belief.outcomes.group])
    listed[s * A + a, belief.outcomes.succ[s, a, k]] = True
    return listed


def _columns(models: tuple[TabularMDP, ...], pair: Ints, seen: Ints) -> Table:
    prob = np.stack([m.matrix[pair, seen] for m in models], axis=1)
    return all_frozen(Table(prob, np.stack([m.mean_reward.ravel() for m in models], axis=1)))
