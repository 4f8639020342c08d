"""Families of a two-layer graph: a variable after a step and its parents before it.

A set of parents is a bit mask over the V variables. The score of a family is the Dirichlet-multinomial probability of
the variable's values, in their order, given the values of its parents: a product over the settings of the parents that
occurred. x and y are the values of all variables before and after the steps of one action, both (T, V).
"""

from __future__ import annotations

from functools import cache
from itertools import combinations
from math import comb, log

import numpy as np
from numpy.random import Generator

from bayesrl.checks import frozen
from bayesrl.kernels.arrays import F1, I1, I2
from bayesrl.kernels.jit import njit


@cache
def masks_of(V: int, most: int) -> I1:
    """All sets of at most `most` parents among V variables, as bit masks, smallest sets first."""
    sets = [sum(1 << j for j in chosen) for n in range(most + 1) for chosen in combinations(range(V), n)]
    return frozen(np.array(sets, np.int64))


def log_prior_total(V: int, most: int, edge: float) -> float:
    """The log of the sum of edge^|G| over all sets of parents."""
    return log(sum(comb(V, n) * edge**n for n in range(most + 1)))


@njit
def count_bits(mask: int) -> int:
    """The number of parents in a set."""
    n = 0
    while mask > 0:
        n += mask & 1
        mask >>= 1
    return n


@njit
def prior_count(i: int, mask: int, sizes: I1, concentration: float, equivalent: float) -> float:
    """Dirichlet count of a value; BDeu if `equivalent` is positive: over all values and settings of the parents."""
    if equivalent <= 0.0:
        return concentration
    cells = float(sizes[i])
    for j in range(len(sizes)):
        if mask >> j & 1:
            cells *= sizes[j]
    return equivalent / cells


@njit
def log_family(x: I2, y: I2, i: int, mask: int, sizes: I1, concentration: float, equivalent: float) -> float:
    """Log probability of the values of variable i, given those of its parents."""
    T, alpha, r = len(x), prior_count(i, mask, sizes, concentration, equivalent), int(sizes[i])
    setting = np.zeros(T, np.int64)
    for j in range(len(sizes)):
        if mask >> j & 1:
            setting = setting * sizes[j] + x[:, j]
    order = np.argsort(setting)
    n, total, score = np.zeros(r), 0.0, 0.0
    for t in range(T):
        if t > 0 and setting[order[t]] != setting[order[t - 1]]:
            n[:], total = 0.0, 0.0
        v = y[order[t], i]
        score += np.log((alpha + n[v]) / (r * alpha + total))  # the urn of this setting, one value after the other
        n[v] += 1.0
        total += 1.0
    return score


@njit
def log_families(
    x: I2, y: I2, i: int, masks: I1, sizes: I1, edge: float, concentration: float, equivalent: float
) -> F1:
    """log edge^|G| + log score of each set of parents, (N,)."""
    found = np.empty(len(masks))
    for n in range(len(masks)):
        score = log_family(x, y, i, masks[n], sizes, concentration, equivalent)
        found[n] = score + count_bits(masks[n]) * np.log(edge)
    return found


@njit
def mean_row(
    x: I2, y: I2, i: int, masks: I1, weights: F1, state: I1, sizes: I1, concentration: float, equivalent: float
) -> F1:
    """Probability of each value of variable i after `state`, averaged over weighted sets of parents, (r,)."""
    r = int(sizes[i])
    row, n = np.zeros(r), np.empty(r)
    for g in range(len(masks)):
        if weights[g] > 0.0:
            n[:] = prior_count(i, masks[g], sizes, concentration, equivalent)
            for t in range(len(x)):
                if agree(x[t], state, masks[g]):
                    n[y[t, i]] += 1.0
            row += weights[g] * n / n.sum()
    return row


@njit
def agree(x: I1, z: I1, mask: int) -> bool:
    """Whether two states have the same values of the parents."""
    same = True
    for j in range(len(x)):
        if mask >> j & 1 and x[j] != z[j]:
            same = False
    return same


@njit
def metropolis(
    rng: Generator, x: I2, y: I2, i: int, mask: int, most: int, sizes: I1, edge: float, prior: F1, moves: int
) -> int:
    """The set of parents of variable i after `moves` Metropolis-Hastings moves that add or remove one edge.

    A move is chosen uniformly among the legal ones: any edge may be flipped while there are fewer than `most` parents,
    and only be removed otherwise. Sets have different numbers of legal moves, hence the Hastings ratio. `prior` is
    (concentration, equivalent).
    """
    V = len(sizes)
    score = log_family(x, y, i, mask, sizes, prior[0], prior[1])
    for _ in range(moves):
        have = count_bits(mask)
        legal = V if have < most else have
        if legal == 0:
            break
        pick = min(int(rng.random() * legal), legal - 1)
        j = pick if have < most else nth_bit(mask, pick)
        new = mask ^ (1 << j)
        more = 1 if new > mask else -1
        legal_after = V if have + more < most else have + more
        proposed = log_family(x, y, i, new, sizes, prior[0], prior[1])
        log_ratio = proposed - score + more * np.log(edge)
        log_ratio += np.log(legal) - np.log(legal_after)  # Hastings
        if np.log(rng.random()) < log_ratio:
            mask, score = new, proposed
    return mask


@njit
def nth_bit(mask: int, n: int) -> int:
    """The place of bit number n among those that are set."""
    j = 0
    while True:
        if mask >> j & 1:
            if n == 0:
                return j
            n -= 1
        j += 1
