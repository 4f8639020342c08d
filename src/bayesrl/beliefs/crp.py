"""The Chinese restaurant process: a prior over the clusterings of N things.

A clustering gives each thing a label; clusters are numbered in the order of their first thing. Thing i + 1 joins a
cluster of n things with probability n / (i + c) and a new one with c / (i + c), where c is the concentration. So

    p(labels) = Gamma(c) / Gamma(c + N) prod_{clusters} c (n - 1)!,

whatever the order of the things. Gibbs sampling removes a thing from its cluster before it computes these weights.

An unknown c is integrated out. The weights of the first line are then n and E[c | K clusters of the others], because

    sum_c p(c) Gamma(c) / Gamma(c + N) c^(K + 1)  =  E[c | N, K] sum_c p(c) Gamma(c) / Gamma(c + N) c^K,

where E[c | N, K] is the posterior mean of c if N things are in K clusters. So a known c is replaced by this mean, for
the number N of all things, the moved one included, and nothing else changes.
"""

from __future__ import annotations

from functools import cache
from typing import Annotated

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike
from scipy import special

from bayesrl._explained import explain_failures
from bayesrl.checks import Floats, Ints, frozen, number
from bayesrl.errors import InvalidArgument
from bayesrl.parameters import Above, value

POINTS = 61
"""Values of an unknown concentration."""


@explain_failures
@value
class LogUniform:
    """An unknown concentration whose logarithm is uniform: 61 values from low to high, evenly spaced in the logarithm.

    Examples
    --------
    >>> LogUniform().values[[0, 30, 60]].round(2).tolist()
    [0.01, 10.0, 10000.0]
    """

    low: Annotated[float, Above(0), "The smallest value."] = 0.01
    high: Annotated[float, Above(0), "The largest value."] = 10_000.0

    def __post_init__(self) -> None:
        for name in ("low", "high"):
            object.__setattr__(self, name, float(getattr(self, name)))
        if not self.low < self.high:
            raise InvalidArgument("LogUniform", "low", f"below high, {self.high:g}", self.low)

    @property
    def values(self) -> Floats:
        """The values, (61,)."""
        return _spaced(self.low, self.high)


@cache
def _spaced(low: float, high: float) -> Floats:
    return frozen(np.geomspace(low, high, POINTS))


Concentration = float | LogUniform
"""A known concentration, or an unknown one."""


def check_concentration(owner: str, x: Concentration) -> Concentration:
    """Raise an error for anything but a positive number or a `LogUniform`."""
    return x if isinstance(x, LogUniform) else number(owner, "concentration", x, 0.0, above=True, moderate=True)


def weight_of_new(concentration: Concentration, clusters: ArrayLike, n: int) -> Floats:
    """The weight of a new cluster for one of n things, if the others are in this many; that of a known one is its size.

    It is c, or the posterior mean of an unknown c; of the shape of `clusters`.

    >>> weight_of_new(LogUniform(), [3, 12], 13).round(1).tolist()  # twelve others in three clusters, or all apart
    [1.0, 313.0]
    """
    if not isinstance(concentration, LogUniform):
        return np.full(np.shape(clusters), concentration)
    K = np.asarray(clusters)
    low, high = (np.logaddexp.reduce(_log_joint(concentration, k, n), axis=-1) for k in (K, K + 1))
    return np.asarray(np.exp(high - low))


def concentrations(concentration: Concentration, clusters: Ints, n: int) -> tuple[Floats, Floats]:
    """The values of c and their posterior probabilities: means over draws, which have n things in these clusters."""
    if not isinstance(concentration, LogUniform):
        return np.array([concentration]), np.ones(1)
    return concentration.values, special.softmax(_log_joint(concentration, clusters, n), axis=-1).mean(axis=0)


def _log_joint(concentration: LogUniform, clusters: ArrayLike, n: int) -> Floats:
    """log c^K Gamma(c) / Gamma(c + n) for each value of c, (..., 61), up to a constant; n is at least 1."""
    c = concentration.values
    return np.asarray(np.multiply.outer(clusters, np.log(c)) + special.betaln(c, n))


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


def draw_clustering(n: int, concentration: Concentration, rng: Generator, given: Ints | None = None) -> Ints:
    """The labels of n things, drawn one after the other; those of the first ones may be given."""
    first = np.zeros(0, np.int64) if given is None else given
    labels, sizes = np.append(first, np.zeros(n - len(first), np.int64)), np.bincount(first, minlength=n).astype(float)
    clusters = int(first.max(initial=-1)) + 1
    for i in range(len(first), n):
        weights = np.append(sizes[:clusters], weight_of_new(concentration, clusters, i + 1))
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
