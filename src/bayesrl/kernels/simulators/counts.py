"""A Dirichlet belief as counts that an exact search adds outcomes to and takes them away from.

An exact search enumerates outcomes. It reads the posterior predictive off `Counts`, adds the outcome that it follows,
and takes that outcome away on the way back.

Shapes: S states, A actions, K outcomes, G groups, D decisions, V values of a reward.
"""

from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from bayesrl.kernels.arrays import B1, F1, F2, F3, I1, I2, I3
from bayesrl.kernels.jit import inlined, njit
from bayesrl.kernels.random.stream import uniform
from bayesrl.kernels.simulators.sparse_urn import tabled_weight, unseen_probability

KINDS, DRAWS, NEWS = 0, 1, 2
"""Columns of `Counts.support`."""


class Counts(NamedTuple):
    """The counts of a Dirichlet belief, with the outcomes that the running search has added to them.

    An outcome e of (s, a) is a move k if rewards are known. If rewards are unknown and take V values, an outcome is a
    pair: the move k = e // V and the value j = e % V. Each cell then has counts of the values.

    A sparse Dirichlet (`sparse_dirichlet.py`) has alpha > 0. Its counts exclude the prior, and its total is T(k0, N) of
    `urn.py`. A move that was seen n times has probability (alpha + n) / T. A move that was not seen has probability
    `support[g, NEWS]`.
    """

    succ: I3  # (S, A, K) next state of move k
    reward: F3  # (S, A, K) its reward, if it is known
    group: I2  # (S, A) which row of `phi` draws it
    terminal: B1  # (S,)
    size: I1  # (G,) number of moves
    phi: F2  # (G, K) counts, or probabilities of a known row
    total: F1  # (G,) their sum; of a sparse Dirichlet T(k0, N)
    gain: F1  # (G,) what a move adds to its count: 1, or 0 in a known row
    cell: I3  # (S, A, K) row of `pay` for the reward of move k, if rewards are unknown
    values: F1  # (V,) possible rewards
    pay: F2  # (cells, V) counts of the possible rewards
    pay_total: F1  # (cells,) their sum
    alpha: float  # sparse Dirichlet: prior count of a move in the support; otherwise 0
    exponent: float  # sparse Dirichlet: a support of size k has prior weight k^-exponent
    support: F2  # (G, 3) sparse Dirichlet: distinct moves seen k0, moves seen N, probability of each unseen move
    weights: F2  # sparse Dirichlet: T(k0, N) of a group of K moves, nan if it is not computed yet


@inlined
def branches(m: Counts, s: int, a: int) -> int:
    """The number of outcomes of (s, a)."""
    return m.size[m.group[s, a]] * max(len(m.values), 1)


@inlined
def move_probability(m: Counts, g: int, k: int) -> float:
    """Posterior predictive probability of move k of group g."""
    n = m.phi[g, k]
    return (m.alpha + n) / m.total[g] if n > 0.0 else m.support[g, NEWS]


@inlined
def read_outcome(m: Counts, s: int, a: int, e: int) -> tuple[float, int, float]:
    """(Posterior predictive probability, next state, reward) of outcome e of (s, a).

    Adding 0 makes every state an int64. A recursive search then has one compiled version; Numba's cache fails with two.
    """
    g, V = m.group[s, a], len(m.values)
    k = e // V if V > 0 else e
    p = move_probability(m, g, k)
    if V == 0:
        return p, 0 + m.succ[s, a, k], m.reward[s, a, k]
    c, j = m.cell[s, a, k], e % V
    return p * m.pay[c, j] / m.pay_total[c], 0 + m.succ[s, a, k], m.values[j]


@inlined
def add(m: Counts, s: int, a: int, e: int, by: float) -> None:
    """Add outcome e of (s, a) to the counts (by = 1), or take it away again (by = -1)."""
    g, V = m.group[s, a], len(m.values)
    k = e // V if V > 0 else e
    m.phi[g, k] += by * m.gain[g]
    m.total[g] += by * m.gain[g]
    if m.alpha > 0.0:
        recount(m, g, k, by)
    if V > 0:
        c = m.cell[s, a, k]
        m.pay[c, e % V] += by
        m.pay_total[c] += by


@njit
def recount(m: Counts, g: int, k: int, by: float) -> None:
    """Update the support of group g after `add`, for a sparse Dirichlet."""
    m.support[g, DRAWS] += by
    if m.phi[g, k] == max(by, 0.0):  # the count of k went from 0 to 1, or from 1 to 0
        m.support[g, KINDS] += by
    weigh(m, g)


@njit
def weigh_all(m: Counts) -> None:
    """Set the totals of every group of a sparse Dirichlet."""
    for g in range(len(m.size)):
        weigh(m, g)


@njit
def weigh(m: Counts, g: int) -> None:
    """Set the total of group g of a sparse Dirichlet, and the probability of each unseen move."""
    k0, N = m.support[g, KINDS], m.support[g, DRAWS]
    m.total[g] = total_weight(m, g, k0, N)
    m.support[g, NEWS] = unseen_probability(k0, N, m.size[g], m.alpha, m.total[g])


@njit
def total_weight(m: Counts, g: int, k0: float, N: float) -> float:
    """T(k0, N) of group g, read from the table of weights where possible."""
    i, j = int(k0), int(N)
    kept = m.size[g] == m.phi.shape[1] and i < m.weights.shape[0] and j < m.weights.shape[1]
    return tabled_weight(m.weights, kept, i, j, m.size[g], m.alpha, m.exponent)


@inlined
def draw_outcome(m: Counts, s: int, a: int, rng: Generator) -> int:
    """Draw an outcome of (s, a) from the posterior predictive, with one random number."""
    u, last = uniform(rng), 0
    for e in range(branches(m, s, a)):
        p = read_outcome(m, s, a, e)[0]
        if p > 0.0:
            last, u = e, u - p
            if u < 0.0:
                break
    return last


class Sums(NamedTuple):
    """Expectations that a search needs at many nodes.

    A row to which the path has added nothing has the same expectation at every node, so it is summed only once.
    """

    table: F3  # (D, S, A) sum_e p_e [r_e + gamma v_d(s_e)] under the counts of the root; nan if not computed yet
    added: I1  # (G,) outcomes that the path has added to each group


@njit
def no_sums(m: Counts, D: int) -> Sums:
    """Make an empty table of sums for D value functions."""
    S, A = m.group.shape
    return Sums(np.full((D, S, A), np.nan), np.zeros(len(m.size), np.int64))


@inlined
def follow(m: Counts, sums: Sums, s: int, a: int, e: int, by: float) -> None:
    """Call `add` for a search that keeps sums."""
    add(m, s, a, e, by)
    sums.added[m.group[s, a]] += int(by)


@inlined
def expected(m: Counts, sums: Sums, d: int, s: int, a: int, gamma: float, v: F1) -> float:
    """sum_e p_e [r_e + gamma v(s_e)] over the outcomes of (s, a). Equal d must come with equal v."""
    if sums.added[m.group[s, a]] > 0:
        return summed(m, s, a, gamma, v)
    if np.isnan(sums.table[d, s, a]):
        sums.table[d, s, a] = summed(m, s, a, gamma, v)
    return sums.table[d, s, a]


@inlined
def summed(m: Counts, s: int, a: int, gamma: float, v: F1) -> float:
    """sum_e p_e [r_e + gamma v(s_e)] under the current counts."""
    x = 0.0
    for e in range(branches(m, s, a)):
        p, y, r = read_outcome(m, s, a, e)
        x += p * (r + gamma * v[y])
    return x
