"""Simulating a Bayes-adaptive MDP by urns: O(1) a step, whatever the number of states.

Drawing a model from the posterior once and following it (root sampling) has the same law as drawing every outcome from
the posterior predictive and adding it to the counts of that simulation: by de Finetti, outcomes that are independent
given theta_g ~ Dirichlet(alpha_g) are exactly a Polya urn with alpha_g balls of the prior's colours, to which each draw
adds a ball of its own colour. The balls of the data are a list, so a draw from them is one index.

Shapes: G groups, K outcomes, D steps of a simulation.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numba.extending import overload

from bayesrl.kernels.jit import njit
from bayesrl.kernels.simulator import INLINED, begin, forget, implements, step


class Urn(NamedTuple):
    """A Dirichlet belief as balls: the prior's mass, the outcomes seen, and those of the running simulation."""

    succ: np.ndarray  # (S, A, K) next state of outcome k
    reward: np.ndarray  # (S, A, K) its reward
    group: np.ndarray  # (S, A) which urn draws it
    terminal: np.ndarray  # (S,)
    mass: np.ndarray  # (G,) prior count of the urn in all
    cdf: np.ndarray  # (G, K) cumulative prior counts
    even: np.ndarray  # (G,) number of outcomes where all prior counts are equal, else 0
    first: np.ndarray  # (G + 1,) where the group's balls begin in `seen`
    seen: np.ndarray  # (n,) outcomes seen, sorted by group
    learns: np.ndarray  # (G,) whether draws add balls (a known row does not)
    own_count: np.ndarray  # (G,) balls added by the running simulation
    own: np.ndarray  # (G, D) and which


@njit
def sorted_by_group(entries, G, K):
    """(first, seen) of ledger entries g * K + k: a counting sort."""
    first = np.zeros(G + 1, np.int64)
    for e in entries:
        first[e // K + 1] += 1
    for g in range(G):
        first[g + 1] += first[g]
    seen = np.empty(len(entries), np.int32)
    place = first[:-1].copy()
    for e in entries:
        g = e // K
        seen[place[g]] = e - g * K
        place[g] += 1
    return first, seen


def draw(urn: Any, g: int, rng: Any) -> int:
    """An outcome of group g from the predictive of whatever urn this is, and one more ball of its colour."""
    return draw_sparse(urn, g, rng) if isinstance(urn, SparseUrn) else draw_dirichlet(urn, g, rng)


@njit
def draw_dirichlet(urn, g, rng):
    """An outcome of group g of a Dirichlet urn, and one more ball of its colour. One random number."""
    mass, n = urn.mass[g], urn.first[g + 1] - urn.first[g]
    m = urn.own_count[g]
    u = rng.random() * (mass + n + m)
    if u < mass:
        if urn.even[g] > 0:
            k = min(int(u / mass * urn.even[g]), urn.even[g] - 1)
        else:
            k = np.searchsorted(urn.cdf[g], u, side="right")
    else:
        j = min(int(u - mass), n + m - 1)
        k = urn.seen[urn.first[g] + j] if j < n else urn.own[g, j - n]
    if urn.learns[g] and m < urn.own.shape[1]:
        urn.own[g, m] = k
        urn.own_count[g] = m + 1
    return k


class SparseUrn(NamedTuple):
    """A sparse Dirichlet belief as balls (Friedman, Singer 1999): what was seen, how often, and the chance of news."""

    succ: np.ndarray  # (S, A, K) next state of outcome k
    reward: np.ndarray  # (S, A, K) its reward
    group: np.ndarray  # (S, A) which urn draws it
    terminal: np.ndarray  # (S,)
    size: np.ndarray  # (G,) conceivable outcomes L
    first: np.ndarray  # (G + 1,) where the group's balls begin in `seen`
    seen: np.ndarray  # (n,) outcomes seen, sorted by group
    kind_first: np.ndarray  # (G + 1,) where the group's different outcomes begin in `kinds`
    kinds: np.ndarray  # (m,) different outcomes seen, sorted by group
    prior: np.ndarray  # (alpha, exponent)
    chances: np.ndarray  # C(k0, N), nan where it is not known yet
    own_count: np.ndarray  # (G,) balls added by the running simulation
    own: np.ndarray  # (G, D) and which
    own_kinds: np.ndarray  # (G, 2) of these, outcomes not seen before; and own_count when that was counted
    new: np.ndarray  # (G, D) and which


@njit
def chance_of_nothing_new(urn, k0, N, L):
    """C(k0, N) = sum_k P(size k | data) (k0 alpha + N) / (k alpha + N), from the table or into it."""
    known = k0 < urn.chances.shape[0] and N < urn.chances.shape[1]
    if known and not np.isnan(urn.chances[k0, N]):
        return urn.chances[k0, N]
    alpha, exponent = urn.prior
    top = -np.inf
    for k in range(max(k0, 1), L + 1):
        top = max(top, _log_weight(k, k0, N, alpha, exponent))
    total = same = 0.0
    for k in range(max(k0, 1), L + 1):
        m = np.exp(_log_weight(k, k0, N, alpha, exponent) - top)
        total += m
        same += m * (k0 * alpha + N) / (k * alpha + N)
    C = same / total
    if known:
        urn.chances[k0, N] = C
    return C


@njit
def _log_weight(k, k0, N, alpha, exponent):
    return (
        -exponent * math.log(k)
        + math.lgamma(k + 1.0)
        - math.lgamma(k - k0 + 1.0)
        + math.lgamma(k * alpha)
        - math.lgamma(k * alpha + N)
    )


@njit
def draw_sparse(urn, g, rng):
    """An outcome of group g from the sparse predictive, and one more ball of its colour."""
    if urn.own_count[g] == 0:
        urn.own_kinds[g, 0] = 0  # a new simulation
    n, m = urn.first[g + 1] - urn.first[g], urn.own_count[g]
    kinds, news = urn.kind_first[g + 1] - urn.kind_first[g], urn.own_kinds[g, 0]
    k0, N, L, alpha = kinds + news, n + m, urn.size[g], urn.prior[0]
    C = chance_of_nothing_new(urn, k0, N, L)
    if rng.random() < C:
        u = rng.random() * (k0 * alpha + N)
        if u < k0 * alpha:  # one of the different outcomes seen, all alike
            j = min(int(u / alpha), k0 - 1)
            k = urn.kinds[urn.kind_first[g] + j] if j < kinds else urn.new[g, j - kinds]
        else:  # or one of the balls
            j = min(int(u - k0 * alpha), N - 1)
            k = urn.seen[urn.first[g] + j] if j < n else urn.own[g, j - n]
    else:  # something new: uniform among the L - k0 others, by rejection while they are many, else by rank
        k = _unseen(urn, g, rng, kinds, news, L)
        if news < urn.new.shape[1]:
            urn.new[g, news] = k
            urn.own_kinds[g, 0] = news + 1
    if m < urn.own.shape[1]:
        urn.own[g, m] = k
        urn.own_count[g] = m + 1
    return k


@njit
def _unseen(urn, g, rng, kinds, news, L):
    while True:
        k = int(rng.random() * L)
        fresh = True
        for j in range(kinds):
            if urn.kinds[urn.kind_first[g] + j] == k:
                fresh = False
        for j in range(news):
            if urn.new[g, j] == k:
                fresh = False
        if fresh:
            return k


@overload(draw, INLINED)
def _draw_by_kind(urn, g, rng):
    kernel = draw_sparse if urn.instance_class is SparseUrn else draw_dirichlet
    return getattr(kernel, "py_func", kernel)


# A search's view of urns (`simulator.py`): states are listed, nothing is drawn at the root ---------------------------


@implements(begin, Urn, SparseUrn)
@njit
def _begin(model, rng):
    pass


@implements(step, Urn, SparseUrn)
@njit
def _step(model, s, a, rng):
    g = model.group[s, a]
    k = draw(model, g, rng)
    y = model.succ[s, a, k]
    return k, y, model.reward[s, a, k], model.terminal[y], g


@implements(forget, Urn, SparseUrn)
@njit
def _forget(model, marks, n):
    for t in range(n):
        model.own_count[marks[t]] = 0
