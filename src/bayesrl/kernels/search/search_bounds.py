"""The common parts of tree searches: rules of choice, bounds on leaves, and sparse trees with bounds.

Shapes: S states, A actions, D decisions, C draws of a (node, action), N nodes.
"""

from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from bayesrl.kernels.arrays import F1, F2, F3, F4, I1, I2, I4
from bayesrl.kernels.jit import inlined, njit
from bayesrl.kernels.random.stream import uniform
from bayesrl.kernels.simulators.reversible_step import likelihood, undo
from bayesrl.kernels.simulators.simulator import Simulator, step
from bayesrl.kernels.ties import margin, size

# Rules of choice -----------------------------------------------------------------------------------------------------


@inlined
def highest(rng: Generator, x: F1, scale: float = 0.0) -> int:
    """The index of the largest entry. Ties are broken at random."""
    best, ties, place, apart = -np.inf, 0, 0, margin(size(x), scale)
    for i in range(len(x)):
        if x[i] > best + apart:
            best, ties, place = x[i], 1, i
        elif x[i] >= best - apart:
            ties += 1
            if uniform(rng) * ties < 1.0:
                place = i
    return place


@njit
def select(rng: Generator, Q: F2, N: I2, n: int, h: int, c: float, e: float = 0.0, apart: float = 0.0) -> int:
    """UCB: argmax_a Q(h, a) + c sqrt(x) + e x, where x = log N(h) / N(h, a); UCB1 if e is zero.

    Untried actions come first. Values that differ by at most `apart` are ties, which are broken at random.
    """
    best, ties, action = -np.inf, 0, 0
    log_n = np.log(n)
    for a in range(Q.shape[1]):
        x = np.inf if N[h, a] == 0 else log_n / N[h, a]
        value = np.inf if N[h, a] == 0 else Q[h, a] + c * np.sqrt(x) + e * x
        if value > best + apart:
            best, ties, action = value, 1, a
        elif value >= best - apart:
            ties += 1
            if uniform(rng) * ties < 1.0:
                action = a
    return action


AUTO = -1.0
"""The constant "auto" of the UCB rule in compiled code."""
MEAN, SQUARES, LOWEST, HIGHEST = 0, 1, 2, 3
"""Indices of the statistics of returns: mean, sum of squared deviations from it, smallest and largest return."""


@inlined
def ucb_constants(c: float, spread: F1, n: int) -> tuple[float, float]:
    """The constants (c, e) of the UCB rule: (c, 0) or, if c is AUTO, those of Bernstein's inequality.

    The mean of m returns with standard deviation sigma and range b exceeds its expectation by
    sigma sqrt(2 x) + b x / 3, x = log(N) / m, with probability at most 1 / N. sigma and b are unknown, so they are
    those of the n returns simulated from the root so far. The rule then does not depend on the unit of rewards. The
    range never falls: a search that keeps to an action whose returns do not vary still tries the others, about log N
    times. Both constants are zero until two returns differ.
    """
    if c >= 0.0:
        return c, 0.0
    return np.sqrt(2.0 * spread[SQUARES] / max(n - 1, 1)), (spread[HIGHEST] - spread[LOWEST]) / 3.0


@inlined
def apart(spread: F1) -> float:
    """How far apart values of actions may be and still tie, by the size of the returns."""
    return margin(max(abs(spread[LOWEST]), abs(spread[HIGHEST])))


@inlined
def add_return(spread: F1, R: float, n: int) -> None:
    """Add the n-th return to the statistics (Welford)."""
    off = R - spread[MEAN]
    spread[MEAN] += off / n
    spread[SQUARES] += off * (R - spread[MEAN])
    spread[LOWEST] = R if n == 1 else min(R, spread[LOWEST])
    spread[HIGHEST] = R if n == 1 else max(R, spread[HIGHEST])


# Leaves --------------------------------------------------------------------------------------------------------------


class LeafBounds(NamedTuple):
    """Knowledge about values before the search: the discount, values of leaves, and the range of returns."""

    gamma: float
    leaf: F1  # (S,) value after the last decision, zero in terminal states; empty if every leaf is worth zero
    range: F2  # (D + 1, 2) smallest and largest return of d further decisions


@inlined
def leaf_bounds(leaves: LeafBounds, s: int, d: int, done: bool) -> tuple[float, float]:
    """Bounds on the value of a hyper-state at s with d decisions to go, before it is searched."""
    if done or (d == 0 and len(leaves.leaf) == 0):
        return 0.0, 0.0
    if d == 0:
        return leaves.leaf[s], leaves.leaf[s]
    return leaves.range[d, 0], leaves.range[d, 1]


# Sparse trees with bounds --------------------------------------------------------------------------------------------

LOWER, UPPER, SURE_LOWER, SURE_UPPER = 0, 1, 2, 3
"""Bounds of a node: LOWER and UPPER on the value of the sampled tree, SURE_LOWER and SURE_UPPER on the true value."""
OUTCOME, STATE, DONE, CHILD = 0, 1, 2, 3
DRAWN, CHANCE, PAID = 0, 1, 2
"""Columns of `Sparse`."""


class Sparse(NamedTuple):
    """The tree of forward-search sparse sampling.

    The C draws of a (node, action) are stored as distinct outcomes. Each outcome has two weights: its frequency n / C
    and its probability p. Frequencies give bounds on the value of the sampled tree, as in the papers. Probabilities
    give bounds on the true value, if outcomes that were not drawn take their worst and best values.
    """

    value: F2  # (N, 4) bounds of V(h)
    q: F3  # (N, 4, A) bounds of Q(h, a)
    size: I2  # (N, A) distinct outcomes drawn, 0 before the node is expanded
    edge: I4  # (N, A, C, 4) outcome, next state, whether it is terminal, child node (-1 if there is none yet)
    weight: F4  # (N, A, C, 3) n / C, p, and the reward
    nodes: I1  # (1,) number of nodes


@njit
def sparse_tree(N: int, A: int, C: int) -> Sparse:
    """Make an empty tree with room for N nodes."""
    return Sparse(
        np.empty((N, 4)), np.empty((N, 4, A)), np.empty((N, A), np.int64), np.empty((N, A, C, 4), np.int64),
        np.empty((N, A, C, 3)), np.zeros(1, np.int64),
    )  # fmt: skip


@njit
def add_node(tree: Sparse, low: float, high: float) -> int:
    """Add a node with these bounds, to be expanded later. Returns its index."""
    n = tree.nodes[0]
    tree.nodes[0] = n + 1
    tree.value[n, LOWER] = tree.value[n, SURE_LOWER] = low
    tree.value[n, UPPER] = tree.value[n, SURE_UPPER] = high
    tree.size[n, 0] = 0
    return n


@njit
def sample(rng: Generator, tree: Sparse, model: Simulator, h: int, s: int) -> None:
    """Draw C outcomes of every action of node h at state s. The model must be in the hyper-state of h."""
    A, C = tree.edge.shape[1], tree.edge.shape[2]
    for a in range(A):
        size = 0
        for _ in range(C):
            k, y, r, done, _ = step(model, s, a, rng)
            undo(model, s, a, k)  # the draws of a node are independent given its hyper-state
            i = 0
            while i < size and tree.edge[h, a, i, OUTCOME] != k:
                i += 1
            if i == size:
                tree.edge[h, a, i, OUTCOME], tree.edge[h, a, i, STATE] = k, y
                tree.edge[h, a, i, DONE], tree.edge[h, a, i, CHILD] = done, -1
                tree.weight[h, a, i, DRAWN], tree.weight[h, a, i, PAID] = 0.0, r
                tree.weight[h, a, i, CHANCE] = likelihood(model, s, a, k)
                size += 1
            tree.weight[h, a, i, DRAWN] += 1.0 / C
        tree.size[h, a] = size
        for j in range(4):
            tree.q[h, j, a] = -np.inf


@njit
def back_up(tree: Sparse, leaves: LeafBounds, h: int, a: int, d: int) -> None:
    """Set the bounds of Q(h, a) from its children, and those of V(h) from its actions, with d decisions to go."""
    low, high, sure_low, sure_high, rest = 0.0, 0.0, 0.0, 0.0, 1.0
    for i in range(tree.size[h, a]):
        n, p, r = tree.weight[h, a, i, DRAWN], tree.weight[h, a, i, CHANCE], tree.weight[h, a, i, PAID]
        c = tree.edge[h, a, i, CHILD]
        if c >= 0:
            L, U = tree.value[c, LOWER], tree.value[c, UPPER]
            l, u = tree.value[c, SURE_LOWER], tree.value[c, SURE_UPPER]
        else:
            L, U = leaf_bounds(leaves, tree.edge[h, a, i, STATE], d - 1, tree.edge[h, a, i, DONE] != 0)
            l, u = L, U
        low += n * (r + leaves.gamma * L)
        high += n * (r + leaves.gamma * U)
        sure_low += p * (r + leaves.gamma * l)
        sure_high += p * (r + leaves.gamma * u)
        rest -= p
    rest = max(rest, 0.0)  # outcomes that were not drawn may be at their worst or best
    tree.q[h, LOWER, a], tree.q[h, SURE_LOWER, a] = low, sure_low + rest * leaves.range[d, 0]
    tree.q[h, UPPER, a], tree.q[h, SURE_UPPER, a] = high, sure_high + rest * leaves.range[d, 1]
    for j in range(4):
        best = -np.inf
        for b in range(tree.q.shape[2]):
            best = max(best, tree.q[h, j, b])
        tree.value[h, j] = best


@njit
def widest_child(rng: Generator, tree: Sparse, leaves: LeafBounds, h: int, a: int, d: int, scale: float = 0.0) -> int:
    """The child of (h, a) with the largest n (U - L), ties at random; -1 if U = L for all. Bounds are finite."""
    best, ties, place = 0.0, 0, -1
    for i in range(tree.size[h, a]):
        c = tree.edge[h, a, i, CHILD]
        if c >= 0:
            L, U = tree.value[c, LOWER], tree.value[c, UPPER]
        else:
            L, U = leaf_bounds(leaves, tree.edge[h, a, i, STATE], d - 1, tree.edge[h, a, i, DONE] != 0)
        wide = U - L > margin(max(abs(L), abs(U)), scale)
        gap = tree.weight[h, a, i, DRAWN] * (U - L) if wide else 0.0
        slack = margin(gap)
        if gap > best + slack:
            best, ties, place = gap, 1, i
        elif gap >= best - slack and gap > 0.0:
            ties += 1
            if uniform(rng) * ties < 1.0:
                place = i
    return place
