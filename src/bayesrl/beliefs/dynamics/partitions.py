"""Clusterings of states: all of them up to nine states, and collapsed Gibbs sampling for more.

A clustering gives each state a label. Labels are numbered in the order of their first state. A cluster B with counts
n[B, a, k] has the evidence prod_a DM(n[B, a]), the Dirichlet-multinomial probability of its outcomes in order. Together
with the Chinese restaurant process,

    p(c, data) = Gamma(crp) / Gamma(crp + S) prod_{B in c} crp (|B| - 1)! prod_a DM(n[B, a]).

For few states the 2^S possible clusters are computed once. A clustering is then a sum over its clusters.
"""

from __future__ import annotations

from functools import cache
from math import lgamma
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from scipy import special

from bayesrl.checks import Floats, Ints, frozen
from bayesrl.kernels.arrays import F1, F2, F3, I1, I2
from bayesrl.kernels.jit import njit

ENUMERABLE = 9
"""The largest number of states whose clusterings are enumerated: 21147 for nine."""


@cache
def all_partitions(S: int) -> tuple[I2, I2]:
    """The labels of every clustering of S states, (N, S), and its clusters as bit masks, (N, S), zero if there is none.

    Bit s of a mask is set if state s belongs to the cluster.
    """
    labels = np.zeros((1, 0), np.int64)
    for _ in range(S):
        clusters = labels.max(axis=1, initial=-1) + 1
        labels = np.repeat(labels, clusters + 1, axis=0)
        new = np.concatenate([np.arange(n + 1) for n in clusters])
        labels = np.column_stack([labels, new])
    masks = np.stack([((labels == j) << np.arange(S)).sum(axis=1) for j in range(S)], axis=1)
    return frozen(labels), frozen(masks)


@cache
def memberships(S: int) -> F2:
    """Which states belong to each possible cluster, (2^S, S), as zeros and ones."""
    return frozen(((np.arange(2**S)[:, None] >> np.arange(S)) & 1).astype(np.float64))


def log_sequence(n: Floats, alpha: Floats) -> Floats:
    """Log Dirichlet-multinomial probability of a sequence with counts n (..., K); alpha is zero on padding."""
    real = alpha > 0.0
    terms = special.gammaln(np.where(real, n + alpha, 1.0)) - special.gammaln(np.where(real, alpha, 1.0))
    total = alpha.sum(axis=-1)
    return np.asarray(special.gammaln(total) - special.gammaln(total + n.sum(axis=-1)) + terms.sum(axis=-1))


class Enumerated(NamedTuple):
    """The exact posterior of the clustering."""

    labels: I2
    """(N, S)."""
    probability: Floats
    """(N,)."""
    log_evidence: float
    cluster: Floats
    """Probability that each set of states is a cluster, (2^S,)."""
    counts: Floats
    """Counts of each possible cluster, (2^S, A, K)."""

    def moments(self, alpha: Floats) -> tuple[Floats, Floats, Floats]:
        """Of each row: its mean (S, A, K), the mean of its squares (S, A, K) and of its total count (S, A)."""
        S = self.labels.shape[1]
        weight = (memberships(S) * self.cluster[:, None]).T
        mean, square, total = (np.tensordot(weight, x, axes=1) for x in row_moments(self.counts, alpha))
        return mean, square, total

    def together(self) -> Floats:
        """Probability that two states share a cluster, (S, S)."""
        member = memberships(self.labels.shape[1])
        return np.asarray(member.T @ (self.cluster[:, None] * member))


def enumerate_partitions(seen: Floats, alpha: Floats, crp: float) -> Enumerated:
    """The exact posterior, given the counts (S, A, K) of each state and the prior counts (A, K)."""
    S = len(seen)
    labels, masks = all_partitions(S)
    member = memberships(S)
    counts = np.tensordot(member, seen, axes=1)
    log_cluster = log_sequence(counts, alpha).sum(axis=1) + np.log(crp)
    log_cluster[1:] += special.gammaln(member[1:].sum(axis=1))
    log_cluster[0] = 0.0
    joint = log_cluster[masks].sum(axis=1)
    total = special.logsumexp(joint)
    p = np.exp(joint - total)
    cluster = np.bincount(masks.ravel(), np.repeat(p, S), 2**S).astype(np.float64)
    cluster[0] = 0.0
    return Enumerated(labels, p, float(total + lgamma(crp) - lgamma(crp + S)), cluster, counts)


def chain_moments(labels: Ints, seen: Floats, alpha: Floats) -> tuple[Floats, Floats, Floats]:
    """The same moments as the average over chains with labels (C, S)."""
    found = [row_moments(np.tensordot(z[:, None] == z, seen, axes=1), alpha) for z in labels]
    mean, square, total = (np.mean(x, axis=0) for x in zip(*found, strict=True))
    return mean, square, total


def row_moments(counts: Floats, alpha: Floats) -> tuple[Floats, Floats, Floats]:
    """Mean, mean square and total count of Dirichlet rows with these counts (..., A, K)."""
    n = counts + alpha
    total = n.sum(axis=-1)
    mean = n / total[..., None]
    return mean, mean * (n + (alpha > 0.0)) / (total[..., None] + 1.0), total


# Collapsed Gibbs sampling --------------------------------------------------------------------------------------------


@njit
def gibbs(rng: Generator, z: I1, seen: F3, alpha: F2, crp: float, sweeps: int) -> None:
    """Draw the label of one state after the other, given the others; z (S,) changes in place.

    State s joins cluster j with weight n_j DM(n[j] + n[s]) / DM(n[j]), and a new one with weight crp DM(n[s]).
    """
    S, A, K = seen.shape
    size, counts, log_w = np.zeros(S + 1), np.zeros((S + 1, A, K)), np.empty(S + 1)
    for s in range(S):
        size[z[s]] += 1.0
        counts[z[s]] += seen[s]
    for _ in range(sweeps):
        for s in range(S):
            size[z[s]] -= 1.0
            counts[z[s]] -= seen[s]
            new_one = False
            for j in range(S + 1):
                prior = size[j]
                if prior == 0.0 and not new_one:
                    prior, new_one = crp, True
                log_w[j] = np.log(prior) + log_gain(seen[s], counts[j], alpha) if prior > 0.0 else -np.inf
            z[s] = draw_log(rng, log_w)
            size[z[s]] += 1.0
            counts[z[s]] += seen[s]
    in_order(z)


@njit
def log_gain(n: F2, old: F2, alpha: F2) -> float:
    """log DM(old + n) - log DM(old), summed over actions; all are counts (A, K)."""
    gain = 0.0
    for a in range(n.shape[0]):
        more = n[a].sum()
        if more > 0.0:
            total = alpha[a].sum() + old[a].sum()
            gain += lgamma(total) - lgamma(total + more)
            for k in range(n.shape[1]):
                if n[a, k] > 0.0:
                    gain += lgamma(alpha[a, k] + old[a, k] + n[a, k]) - lgamma(alpha[a, k] + old[a, k])
    return gain


@njit
def draw_log(rng: Generator, log_w: F1) -> int:
    """Draw an index with probability proportional to exp(log_w)."""
    w = np.exp(log_w - log_w.max())
    u, last = rng.random() * w.sum(), 0
    for j in range(len(w)):
        if w[j] > 0.0:
            last, u = j, u - w[j]
            if u < 0.0:
                break
    return last


@njit
def in_order(z: I1) -> None:
    """Number the labels in the order of their first state."""
    name, n = np.full(len(z) + 1, -1), 0
    for s in range(len(z)):
        if name[z[s]] < 0:
            name[z[s]] = n
            n += 1
        z[s] = name[z[s]]
