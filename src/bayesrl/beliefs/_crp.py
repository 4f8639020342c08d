"""The Chinese restaurant process: a prior over the clusterings of N things.

A clustering gives each thing a label; clusters are numbered in the order of their first thing. Thing i + 1 joins a
cluster of n things with probability n / (i + c) and a new one with c / (i + c), where c is the concentration. So

    p(labels) = Gamma(c) / Gamma(c + N) prod_{clusters} c (n - 1)!,

whatever the order of the things. Gibbs sampling removes a thing from its cluster before it computes these weights.
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from scipy import special

from bayesrl.checks import Floats, Ints


def relabelled(labels: Ints) -> Ints:
    """The same clustering, with clusters numbered in the order of their first thing.

    >>> relabelled(np.array([7, 3, 7, 5])).tolist()
    [0, 1, 0, 2]
    """
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[inverse], np.int64)


def log_crp(labels: Ints, concentration: float) -> float:
    """Log probability of a clustering."""
    sizes = np.bincount(labels)
    sizes = sizes[sizes > 0]
    whole = special.gammaln(concentration) - special.gammaln(concentration + len(labels))
    return float(whole + len(sizes) * np.log(concentration) + special.gammaln(sizes).sum())


def draw_clustering(n: int, concentration: float, rng: Generator, given: Ints | None = None) -> Ints:
    """The labels of n things, drawn one after the other; those of the first ones may be given."""
    first = np.zeros(0, np.int64) if given is None else given
    labels, sizes = np.append(first, np.zeros(n - len(first), np.int64)), np.bincount(first, minlength=n).astype(float)
    clusters = int(first.max(initial=-1)) + 1
    for i in range(len(first), n):
        weights = np.append(sizes[:clusters], concentration)
        labels[i] = j = int(np.searchsorted(np.cumsum(weights), rng.random() * weights.sum(), side="right"))
        sizes[j] += 1.0
        clusters += j == clusters
    return labels


def together(assignments: Ints) -> Floats:
    """The share of drawn clusterings (n, N) in which two things have the same label, (N, N)."""
    N = assignments.shape[1]
    found = np.zeros((N, N))
    for labels in assignments:
        found += labels[:, None] == labels
    return found / len(assignments)


def mean_clusters(assignments: Ints) -> float:
    """The mean number of clusters of drawn clusterings (n, N)."""
    return np.float64(cluster_counts(assignments).mean() if assignments.shape[1] else 0.0)


def cluster_counts(assignments: Ints) -> Ints:
    """The number of clusters of each drawn clustering, (n,)."""
    ordered = np.sort(assignments, axis=1)
    return np.asarray(1 + (np.diff(ordered, axis=1) != 0).sum(axis=1), np.int64)
