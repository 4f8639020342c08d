"""Probes of beliefs over several tasks (`multitask/`)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator
from probes_of_models import DirichletProbe

from bayesrl.beliefs.crp import cluster_counts, draw_clustering, weight_of_new
from bayesrl.beliefs.tasks.hierarchical_mdp import HierarchicalMDP
from bayesrl.beliefs.tasks.variable_reward_transfer import VariableReward
from bayesrl.checks import Floats
from bayesrl.core import Transition
from bayesrl.models.mdp import TabularMDP
from bayesrl.models.solve import solve
from bayesrl.testing import probe_for

TASKS = 3
SWEEPS = 6


class HierarchicalProbe:
    """Truths are models of three tasks, which share classes; data are steps of a random task from a random pair.

    After each datum the chain makes six sweeps. The quantities are the probabilities of all three tasks.
    """

    random = True

    def draw(self, belief: HierarchicalMDP, rng: Generator) -> Any:
        return belief.sample(rng, TASKS)

    def datum(self, belief: HierarchicalMDP, theta: Any, rng: Generator) -> Transition:
        m = int(rng.integers(TASKS))
        return DirichletProbe().datum(belief.problem, theta[m], rng)._replace(task=m)

    def learn(self, belief: HierarchicalMDP, datum: Transition, rng: Generator) -> HierarchicalMDP:
        return belief.update(datum).refresh(rng, SWEEPS)

    def read(self, belief: HierarchicalMDP, theta: Any) -> Floats:
        return np.concatenate([model.prob.ravel() for model in theta])

    def expect(self, belief: HierarchicalMDP) -> Floats:
        z, n, M = belief.assignments, self.counts(belief), belief.n_tasks
        z = z if len(z) else np.zeros((1, M), np.int64)
        of_tasks = means(belief, np.einsum("imk,kgx->imgx", (z[:, :, None] == z[:, None, :]).astype(float), n))
        c = weight_of_new(belief.concentration, cluster_counts(z), M + 1)[:, None, None]
        of_class = of_tasks.sum(axis=1)  # a class of n tasks counts n times
        of_new = ((of_class + c * means(belief, np.zeros_like(of_class))) / (M + c)).mean(axis=0)
        return np.concatenate([of_tasks.mean(axis=0), np.repeat(of_new[None], TASKS - M, axis=0)]).ravel()

    def readings(self, belief: HierarchicalMDP, n: int, rng: Generator) -> Floats:
        """The quantities of n draws: what `read` gives of `draw`, without making models."""
        z, seen = belief.assignments, self.counts(belief)
        z = z if len(z) else np.zeros((1, belief.n_tasks), np.int64)
        found = []
        for i in rng.integers(len(z), size=n):
            labels = draw_clustering(TASKS, belief.concentration, rng, z[i])
            one_hot = np.arange(TASKS)[:, None] == labels[: belief.n_tasks]
            rows = rng.standard_gamma(belief.problem.alpha + np.tensordot(one_hot, seen, axes=1))
            found.append((rows / rows.sum(axis=2, keepdims=True))[labels].ravel())
        return np.array(found)

    def counts(self, belief: HierarchicalMDP) -> Floats:
        """The counts of each task, (M, G, K)."""
        n = np.zeros((belief.n_tasks, belief.problem.alpha.size))
        for m, seen in enumerate(belief.data):
            n[m, seen.cells] = seen.counts
        return n.reshape(-1, *belief.problem.alpha.shape)


def means(belief: HierarchicalMDP, counts: Floats) -> Floats:
    """Mean probabilities of Dirichlet rows with the prior counts and these, (..., G, K)."""
    alpha = belief.problem.alpha + counts
    return np.asarray(alpha / alpha.sum(axis=-1, keepdims=True))


class CacheProbe:
    """For a cache of policies: nothing is random but the tasks. The quantities are the values of four fixed tasks.

    Their truth is solved. Purity holds, and the cache approaches the truth; there is no posterior to calibrate.
    """

    approximate = point = True
    many = 60

    def draw(self, belief: VariableReward, rng: Generator) -> None:
        return None

    def datum(self, belief: VariableReward, theta: None, rng: Generator) -> Floats:
        return rng.standard_normal(belief.features.shape[2])

    def read(self, belief: VariableReward, theta: None) -> Floats:
        mdp, weights = belief.problem, self.weights(belief)
        tables = [TabularMDP.from_dense(mdp.dense()[0], belief.features @ w, mdp.gamma) for w in weights]
        return np.concatenate([solve(table).values for table in tables])

    def expect(self, belief: VariableReward) -> Floats:
        return np.concatenate([belief.value(w) for w in self.weights(belief)])

    def weights(self, belief: VariableReward) -> Floats:
        """The fixed tasks, (4, k)."""
        return np.random.default_rng(0).standard_normal((4, belief.features.shape[2]))


probe_for.register(VariableReward, lambda belief: CacheProbe())
probe_for.register(HierarchicalMDP, lambda belief: HierarchicalProbe())
