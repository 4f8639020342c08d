"""Simulating a Bayes-adaptive MDP by urns: O(1) a step, whatever the number of states.

Drawing a model from the posterior once and following it (root sampling) has the same law as drawing every outcome from
the posterior predictive and adding it to the counts of that simulation: by de Finetti, outcomes that are independent
given theta_g ~ Dirichlet(alpha_g) are exactly a Polya urn with alpha_g balls of the prior's colours, to which each draw
adds a ball of its own colour. The balls of the data are a list, so a draw from them is one index.

Shapes: G groups, K outcomes, D steps of a simulation.
"""

from typing import NamedTuple

import numpy as np

from bayesrl.kernels.jit import njit


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


@njit
def draw(urn, g, rng):
    """An outcome of group g, and one more ball of its colour. One random number."""
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
