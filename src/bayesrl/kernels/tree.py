"""What the tree searches share: counts that a search adds to and takes from, sparse trees with bounds, rules of choice.

Exact searches enumerate outcomes: they read the posterior predictive off `Counts`, add the outcome they follow, and
take it away again on the way back. Sparse searches sample outcomes into `Sparse`.

Shapes: S states, A actions, K outcomes, G groups, D decisions, C draws of a (node, action), N nodes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.random import Generator

from bayesrl.kernels.arrays import B1, F1, F2, F3, F4, I1, I2, I3, I4
from bayesrl.kernels.jit import njit
from bayesrl.kernels.replay import likelihood, undo
from bayesrl.kernels.simulator import inlined, step
from bayesrl.kernels.stream import uniform
from bayesrl.kernels.urn import Urn, empty_urns, new_chance, tabled_weight, urns

if TYPE_CHECKING:
    from bayesrl.models.mdp import TabularMDP

# Counts --------------------------------------------------------------------------------------------------------------


KINDS, DRAWS, NEWS = 0, 1, 2
"""Columns of `Counts.support`."""


class Counts(NamedTuple):
    """A Dirichlet belief as counts, and the outcomes that the running search has added to them.

    If rewards are unknown, with V values, each cell has counts of its own, and outcome e of (s, a) is the pair of a
    move k = e // V and a value j = e % V. Otherwise e is k, and there are no values.

    A sparse Dirichlet (`sparse_dirichlet.py`) has alpha > 0: its counts are those of the outcomes seen, its total is
    T(k0, N) of `urn.py`, a move seen n times has probability (alpha + n) / T, and each move not seen has NEWS.
    """

    succ: I3  # (S, A, K) next state of move k
    reward: F3  # (S, A, K) its reward, if it is known
    group: I2  # (S, A) which row of `phi` draws it
    terminal: B1  # (S,)
    size: I1  # (G,) number of moves
    phi: F2  # (G, K) counts, or probabilities of a known row
    total: F1  # (G,) their sum; of a sparse Dirichlet T(k0, N)
    gain: F1  # (G,) what a move adds to its count: 1, or 0 in a known row
    cell: I3  # (S, A, K) which row of `pay` pays move k, if rewards are unknown
    values: F1  # (V,) the rewards there can be
    pay: F2  # (cells, V) counts of them
    pay_total: F1  # (cells,) their sum
    alpha: float  # of a sparse Dirichlet: the prior count of a move in the support; else 0
    exponent: float  # a support of size k has prior weight k^-exponent
    support: F2  # (G, 3) different moves seen k0, moves seen N, the probability of each move not seen; else 0
    weights: F2  # T(k0, N) of a group of K moves, nan if it has not been computed yet


@inlined
def branches(m: Counts, s: int, a: int) -> int:
    """The number of outcomes of (s, a)."""
    return m.size[m.group[s, a]] * max(len(m.values), 1)


@inlined
def chance(m: Counts, g: int, k: int) -> float:
    """Posterior predictive probability of move k of group g."""
    n = m.phi[g, k]
    return (m.alpha + n) / m.total[g] if n > 0.0 else m.support[g, NEWS]


@inlined
def look(m: Counts, s: int, a: int, e: int) -> tuple[float, int, float]:
    """(Posterior predictive probability, next state, reward) of outcome e of (s, a).

    Adding 0 makes every state an int64, so that a recursion has one compiled version: Numba's cache fails with two.
    """
    g, V = m.group[s, a], len(m.values)
    k = e // V if V > 0 else e
    p = chance(m, g, k)
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
    """The rest of `add` for a sparse Dirichlet."""
    m.support[g, DRAWS] += by
    if m.phi[g, k] == max(by, 0.0):  # the first of its kind came, or the last went
        m.support[g, KINDS] += by
    weigh(m, g)


@njit
def weigh_all(m: Counts) -> None:
    """Set the totals of every group of a sparse Dirichlet."""
    for g in range(len(m.size)):
        weigh(m, g)


@njit
def weigh(m: Counts, g: int) -> None:
    """Set the total of group g of a sparse Dirichlet, and the probability of each move that was not seen."""
    k0, N = m.support[g, KINDS], m.support[g, DRAWS]
    m.total[g] = weight(m, g, k0, N)
    m.support[g, NEWS] = new_chance(k0, N, m.size[g], m.alpha, m.total[g])


@njit
def weight(m: Counts, g: int, k0: float, N: float) -> float:
    """T(k0, N) of group g: from the table if it has a place there."""
    i, j = int(k0), int(N)
    kept = m.size[g] == m.phi.shape[1] and i < m.weights.shape[0] and j < m.weights.shape[1]
    return tabled_weight(m.weights, kept, i, j, m.size[g], m.alpha, m.exponent)


@inlined
def draw_outcome(m: Counts, s: int, a: int, rng: Generator) -> int:
    """An outcome of (s, a) from the posterior predictive; one random number."""
    u, last = uniform(rng), 0
    for e in range(branches(m, s, a)):
        p = look(m, s, a, e)[0]
        if p > 0.0:
            last, u = e, u - p
            if u < 0.0:
                break
    return last


class Sums(NamedTuple):
    """Expectations that a search needs at many nodes.

    A row that the path has not added to has the same expectation at every node. It is summed once for each decision.
    """

    table: F3  # (D, S, A) sum_e p_e [r_e + gamma v_d(s_e)] of a row as it is at the root; nan: not computed yet
    added: I1  # (G,) outcomes that the path has added to each group


@njit
def no_sums(m: Counts, D: int) -> Sums:
    """Nothing summed yet, for D different v."""
    S, A = m.group.shape
    return Sums(np.full((D, S, A), np.nan), np.zeros(len(m.size), np.int64))


@inlined
def follow(m: Counts, sums: Sums, s: int, a: int, e: int, by: float) -> None:
    """Like `add`, on the path of a search that keeps sums."""
    add(m, s, a, e, by)
    sums.added[m.group[s, a]] += int(by)


@inlined
def expected(m: Counts, sums: Sums, d: int, s: int, a: int, gamma: float, v: F1) -> float:
    """sum_e p_e [r_e + gamma v(s_e)] over the outcomes of (s, a); v is always the same for the same d."""
    if sums.added[m.group[s, a]] > 0:
        return summed(m, s, a, gamma, v)
    if np.isnan(sums.table[d, s, a]):
        sums.table[d, s, a] = summed(m, s, a, gamma, v)
    return sums.table[d, s, a]


@inlined
def summed(m: Counts, s: int, a: int, gamma: float, v: F1) -> float:
    """sum_e p_e [r_e + gamma v(s_e)] under the present counts."""
    x = 0.0
    for e in range(branches(m, s, a)):
        p, y, r = look(m, s, a, e)
        x += p * (r + gamma * v[y])
    return x


# A known model -------------------------------------------------------------------------------------------------------


def model_urn(mdp: TabularMDP) -> Urn:
    """A known model as urns that no draw changes: a simulator that costs O(log K) a step."""
    o = mdp.outcomes
    return urns(o.alike, *empty_urns(mdp.prob, o.size, False), np.zeros(0, np.int64), 0)


# Rules of choice -----------------------------------------------------------------------------------------------------


@njit
def highest(rng: Generator, x: F1) -> int:
    """The index of the largest entry, ties at random."""
    best, ties, place = -np.inf, 0, 0
    for i in range(len(x)):
        if x[i] > best:
            best, ties, place = x[i], 1, i
        elif x[i] == best:
            ties += 1
            if uniform(rng) * ties < 1.0:
                place = i
    return place


@njit
def select(rng: Generator, Q: F2, N: I2, n: int, h: int, c: float) -> int:
    """The UCB rule: argmax_a Q(h, a) + c sqrt(log N(h) / N(h, a)), untried actions first, ties at random."""
    best, ties, action = -np.inf, 0, 0
    log_n = np.log(n)
    for a in range(Q.shape[1]):
        value = np.inf if N[h, a] == 0 else Q[h, a] + c * np.sqrt(log_n / N[h, a])
        if value > best:
            best, ties, action = value, 1, a
        elif value == best:
            ties += 1
            if uniform(rng) * ties < 1.0:
                action = a
    return action


# Beyond the tree -----------------------------------------------------------------------------------------------------


class Ends(NamedTuple):
    """What is known of a value without any search: the discount, the leaves, and the range of what can be earned."""

    gamma: float
    leaf: F1  # (S,) value beyond the last decision, zero in terminal states; if empty, every leaf is zero
    range: F2  # (D + 1, 2) V_min and V_max with d decisions to go


@inlined
def unseen(ends: Ends, s: int, d: int, done: bool) -> tuple[float, float]:
    """Bounds on the value of a hyper-state at s with d to go."""
    if done or (d == 0 and len(ends.leaf) == 0):
        return 0.0, 0.0
    if d == 0:
        return ends.leaf[s], ends.leaf[s]
    return ends.range[d, 0], ends.range[d, 1]


# Sparse trees with bounds --------------------------------------------------------------------------------------------

LOWER, UPPER, SURE_LOWER, SURE_UPPER = 0, 1, 2, 3
"""Bounds of a node: on the value of the sampled tree, and on the value itself."""
OUTCOME, STATE, DONE, CHILD = 0, 1, 2, 3
DRAWN, CHANCE, PAID = 0, 1, 2
"""Columns of `Sparse`."""


class Sparse(NamedTuple):
    """The tree of forward-search sparse sampling.

    The C draws of a (node, action) are kept as distinct outcomes with two weights: how often each was drawn, n / C,
    and how probable it is, p. The first give bounds on the value of the sampled tree, as in the papers. The second give
    bounds on the value itself, with outcomes that were not drawn at their worst and best.
    """

    value: F2  # (N, 4) bounds of V(h)
    q: F3  # (N, 4, A) bounds of Q(h, a)
    size: I2  # (N, A) distinct outcomes drawn, 0 before the node is expanded
    edge: I4  # (N, A, C, 4) of each: outcome, next state, whether it is terminal, child node (-1: none yet)
    weight: F4  # (N, A, C, 3) n / C, p, and the reward
    nodes: I1  # (1,) how many there are


@njit
def sparse_tree(N: int, A: int, C: int) -> Sparse:
    """An empty tree with room for N nodes; memory that no node uses is never touched."""
    return Sparse(
        np.empty((N, 4)), np.empty((N, 4, A)), np.empty((N, A), np.int64), np.empty((N, A, C, 4), np.int64),
        np.empty((N, A, C, 3)), np.zeros(1, np.int64),
    )  # fmt: skip


@njit
def add_node(tree: Sparse, low: float, high: float) -> int:
    """Add a node, not expanded, with these bounds: its number."""
    n = tree.nodes[0]
    tree.nodes[0] = n + 1
    tree.value[n, LOWER] = tree.value[n, SURE_LOWER] = low
    tree.value[n, UPPER] = tree.value[n, SURE_UPPER] = high
    tree.size[n, 0] = 0
    return n


@njit
def sample(rng: Generator, tree: Sparse, model: object, h: int, s: int) -> None:
    """Draw C outcomes of every action of node h, which is at s; the model holds its hyper-state."""
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
def back_up(tree: Sparse, ends: Ends, h: int, a: int, d: int) -> None:
    """Set the bounds of Q(h, a) from its children's, and of V(h) from its actions'; d decisions to go."""
    low, high, sure_low, sure_high, rest = 0.0, 0.0, 0.0, 0.0, 1.0
    for i in range(tree.size[h, a]):
        n, p, r = tree.weight[h, a, i, DRAWN], tree.weight[h, a, i, CHANCE], tree.weight[h, a, i, PAID]
        c = tree.edge[h, a, i, CHILD]
        if c >= 0:
            L, U = tree.value[c, LOWER], tree.value[c, UPPER]
            l, u = tree.value[c, SURE_LOWER], tree.value[c, SURE_UPPER]
        else:
            L, U = unseen(ends, tree.edge[h, a, i, STATE], d - 1, tree.edge[h, a, i, DONE] != 0)
            l, u = L, U
        low += n * (r + ends.gamma * L)
        high += n * (r + ends.gamma * U)
        sure_low += p * (r + ends.gamma * l)
        sure_high += p * (r + ends.gamma * u)
        rest -= p
    rest = max(rest, 0.0)  # outcomes that were not drawn may be at their worst or best
    tree.q[h, LOWER, a], tree.q[h, SURE_LOWER, a] = low, sure_low + rest * ends.range[d, 0]
    tree.q[h, UPPER, a], tree.q[h, SURE_UPPER, a] = high, sure_high + rest * ends.range[d, 1]
    for j in range(4):
        best = -np.inf
        for b in range(tree.q.shape[2]):
            best = max(best, tree.q[h, j, b])
        tree.value[h, j] = best


@njit
def widest(rng: Generator, tree: Sparse, ends: Ends, h: int, a: int, d: int) -> int:
    """The child of (h, a) with the largest n (U - L), ties at random; -1 if every child's value is settled."""
    best, ties, place = 0.0, 0, -1
    for i in range(tree.size[h, a]):
        c = tree.edge[h, a, i, CHILD]
        if c >= 0:
            L, U = tree.value[c, LOWER], tree.value[c, UPPER]
        else:
            L, U = unseen(ends, tree.edge[h, a, i, STATE], d - 1, tree.edge[h, a, i, DONE] != 0)
        gap = tree.weight[h, a, i, DRAWN] * (U - L)
        if gap > best:
            best, ties, place = gap, 1, i
        elif gap == best and place >= 0:
            ties += 1
            if uniform(rng) * ties < 1.0:
                place = i
    return place
