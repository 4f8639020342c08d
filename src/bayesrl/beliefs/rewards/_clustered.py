"""The common parts of beliefs about clusterings, and collapsed Gibbs sampling where each cluster has one of G labels.

Thing i has the probability L[i, g] if the label of its cluster is g. Clusters follow a Chinese restaurant process, and
their labels are drawn independently with probabilities u. The labels are summed out: thing i joins cluster j, which has
n things without it, with weight n sum_g p_j(g) L[i, g], where p_j is the posterior of the label of j without thing i,
and a new cluster with weight c sum_g u(g) L[i, g].
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator

from bayesrl.beliefs.chain import FEW
from bayesrl.beliefs.crp import cluster_counts, mean_clusters, together
from bayesrl.checks import Floats, Ints
from bayesrl.errors import InvalidArgument
from bayesrl.kernels.arrays import F1, F2, I1, I2
from bayesrl.kernels.jit import njit

ENOUGH = 10 * FEW
"""Draws before which a chain is not judged."""


class Clustered:
    """A belief whose draws are clusterings."""

    assignments: Ints
    """The cluster of each thing in each draw of `refresh`, (n, N), numbered in the order of their first thing."""

    def co_assignment(self) -> Floats:
        """Posterior probability that two things are in one cluster, (N, N)."""
        return together(drawn(self, "co_assignment", self.assignments))

    def n_clusters(self) -> float:
        """Posterior mean of the number of clusters."""
        return mean_clusters(drawn(self, "n_clusters", self.assignments))

    def _columns(self, what: str) -> Floats:
        """The quantities whose diagnostics are computed: the number of clusters, and the size of each thing's own."""
        z = drawn(self, what, self.assignments)
        return np.column_stack([cluster_counts(z), *((z == z[:, [i]]).sum(axis=1) for i in range(z.shape[1]))])


def drawn(belief: object, what: str, draws: Any) -> Any:
    """The draws of a belief, or an error if there are none."""
    if not len(draws):
        expected = "a belief with draws: call refresh(rng, sweeps) after the last demonstration"
        raise InvalidArgument(f"{type(belief).__name__}.{what}", "self", expected, "no draws")
    return draws


@njit
def gibbs(rng: Generator, z: I1, log_l: F2, u: F1, c: float, labels: I2, goals: I2) -> None:
    """Draw clusterings, one in each row of labels (n, N), and the label of each thing's cluster, in goals (n, N).

    z (N,) is the state of the chain, -1 for a thing that has no cluster yet; it changes in place. log_l (N, G) is log L
    and u is positive; a factor of all of u has no meaning.
    """
    N, G = log_l.shape
    size, total, p = np.zeros(N + 1), np.zeros((N + 1, G)), np.zeros((N + 1, G))
    weight, name, goal = np.zeros(N + 1), np.zeros(N + 1, np.int64), np.zeros(N + 1, np.int64)
    L = np.zeros((N, G))  # over the largest entry of its row
    for i in range(N):
        top = log_l[i].max()
        for g in range(G):
            L[i, g] = np.exp(log_l[i, g] - top)
    for t in range(len(labels)):
        for j in range(N + 1):
            size[j], name[j] = 0.0, -1
            for g in range(G):
                total[j, g] = 0.0
        for i in range(N):
            if z[i] >= 0:
                size[z[i]] += 1.0
                for g in range(G):
                    total[z[i], g] += log_l[i, g]
        for j in range(N + 1):
            normalise(total, u, p, j)
        for i in range(N):
            if z[i] >= 0:  # the clusters without this thing
                size[z[i]] -= 1.0
                for g in range(G):
                    total[z[i], g] = total[z[i], g] - log_l[i, g] if size[z[i]] > 0.0 else 0.0
                normalise(total, u, p, z[i])
            new_one = False
            for j in range(N + 1):
                seats = size[j]
                if seats == 0.0 and not new_one:
                    seats, new_one = c, True
                weight[j] = 0.0
                if seats > 0.0:
                    for g in range(G):
                        weight[j] += seats * p[j, g] * L[i, g]
            z[i] = choose(rng, weight)
            size[z[i]] += 1.0
            for g in range(G):
                total[z[i], g] += log_l[i, g]
            normalise(total, u, p, z[i])
        n = 0
        for i in range(N):
            if name[z[i]] < 0:
                name[z[i]], goal[z[i]] = n, choose(rng, p[z[i]])
                n += 1
            labels[t, i], goals[t, i] = name[z[i]], goal[z[i]]
    for i in range(N):
        z[i] = labels[len(labels) - 1, i]


@njit
def normalise(total: F2, u: F1, p: F2, j: int) -> None:
    """Write into row j of p (N, G) probabilities proportional to u exp(total)."""
    top, mass = total[j].max(), 0.0
    for g in range(len(u)):
        p[j, g] = u[g] * np.exp(total[j, g] - top)
        mass += p[j, g]
    for g in range(len(u)):
        p[j, g] /= mass


@njit
def choose(rng: Generator, weight: F1) -> int:
    """Draw an index with probability proportional to the weights."""
    x, last = 0.0, 0
    for w in weight:
        x += w
    x *= rng.random()
    for j in range(len(weight)):
        if weight[j] > 0.0:
            last, x = j, x - weight[j]
            if x < 0.0:
                break
    return last
