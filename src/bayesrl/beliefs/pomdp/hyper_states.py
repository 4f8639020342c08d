"""Weighted hyper-states: a hidden state and counts of transitions and observations, in compiled form.

All unknown distributions are rows of one table: first those of outcomes, then one certain row for terminal states, then
those of observations. The cell of entry k in row r is r W + k. The counts of a hyper-state are the prior's and a short
list of the cells that were counted up (docs/adr/0002). No hyper-state has a copy of the table.

A step runs over outcomes k and outcomes j of the observation, not over next states and observations:

    (s, phi, psi) of weight w  ->  (s', phi + 1_k, psi + 1_j) of weight w phi_k / phi_. psi_j / psi_.

where k leads from (s, a) to s' and j shows o. Tied rows then need no special case: outcomes of one row that lead to the
same state give different counts. Equal hyper-states merge, and only equal ones.

Belief updates and searches run the same step. A search does not write lists: a branch is a root hyper-state and the
`path` of cells counted since the root, in ascending order.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bayesrl.beliefs.pomdp.dirichlet_pomdp import DirichletPOMDP
from bayesrl.checks import all_frozen
from bayesrl.kernels.arrays import B1, F1, F2, F4, I1, I2, I3
from bayesrl.kernels.jit import inlined, njit
from bayesrl.kernels.simulators.simulator import borrowed

KEYS = 2**61 - 1
"""Keys of lists are sums of `Rows.mix` modulo this number."""
FRESH = -1
"""The state of a hyper-state at the start of an episode: it is distributed as `Rows.start`."""


class Rows(NamedTuple):
    """The arrays that all hyper-states share."""

    succ: I3  # (S, A, K) next state of outcome k
    move: I2  # (S, A) row that draws the outcome
    observation: I3  # (S, A, L) observation of outcome j
    show: I2  # (S, A) row that draws the observation after reaching s by a
    alpha: F2  # (R, W) prior counts; probabilities of known rows
    total: F1  # (R,) their sums
    size: I1  # (R,) number of entries
    learnt: B1  # (R,) whether a row is counted up
    bound: float  # rows are counted up while their total is below this
    terminal: B1  # (S,)
    start: F1  # (S,)
    reward: F4  # (S, A, 1 or S, 1 or Z)
    mix: I1  # (R W,) a random number for each cell


class HyperStates(NamedTuple):
    """N weighted hyper-states. Entry i was counted `times[t]` times in `cell[t]`, first[i] <= t < first[i + 1]."""

    weight: F1  # (N,) sums to one
    state: I1  # (N,) or FRESH, for all of them
    first: I1  # (N + 1,)
    cell: I1  # (M,) ascending within each hyper-state
    times: I1  # (M,)
    key: I1  # (N,) sum of the mix of each count: equal lists have equal keys


class Branches(NamedTuple):
    """Weighted hyper-states that differ from root hyper-states by the cells counted since."""

    weight: F1  # (n,) not normalised: sums to the probability of what was seen
    state: I1  # (n,)
    root: I1  # (n,)
    path: I2  # (n, P) cells counted since the root, ascending; R W on padding
    key: I1  # (n,)


def rows_of(model_prior: DirichletPOMDP, bound: float) -> Rows:
    """The compiled form of a prior."""
    outcomes, observed, (fixed, shown) = model_prior.outcomes, model_prior.observed, model_prior.fixed
    (G, K), (H, L) = model_prior.phi.shape, model_prior.psi.shape
    R, W = G + 1 + H, max(K, L)
    alpha = np.zeros((R, W))
    alpha[:G, :K], alpha[G, 0], alpha[G + 1 :, :L] = model_prior.phi, 1.0, model_prior.psi
    move = np.where(outcomes.terminal[:, None], G, outcomes.group)
    paid = np.where(outcomes.terminal.reshape(-1, *[1] * (model_prior.rewards.ndim - 1)), 0.0, model_prior.rewards)
    learnt = np.concatenate([~fixed, [False], ~shown])
    size = np.concatenate([outcomes.size, [1], observed.size])
    four = paid.reshape(paid.shape + (1,) * (4 - paid.ndim))
    rows = Rows(
        whole(outcomes.succ), whole(move), whole(observed.observation), whole(observed.group + G + 1),
        alpha, alpha.sum(axis=1), whole(size), learnt, float(bound),
        np.array(outcomes.terminal), np.array(outcomes.start), np.array(four, order="C"), mixed(R * W),
    )  # fmt: skip
    return all_frozen(rows)


def whole(x: I1 | I2 | I3) -> Any:
    """A copy in one format, so that kernels are compiled once."""
    return np.array(x, np.int64, order="C")


def mixed(n: int) -> I1:
    """A number below KEYS for each cell: the finaliser of splitmix64, so that sums of few of them differ."""
    z = np.arange(1, n + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return ((z ^ (z >> np.uint64(31))) % np.uint64(KEYS)).astype(np.int64)


def nothing_seen() -> HyperStates:
    """The prior: one hyper-state without counts, at the start of an episode."""
    zero = np.zeros(1, np.int64)
    none = np.zeros(0, np.int64)
    return all_frozen(HyperStates(np.ones(1), zero + FRESH, np.zeros(2, np.int64), none, none.copy(), zero))


# A step --------------------------------------------------------------------------------------------------------------


@inlined
def counts_in(m: Rows, h: HyperStates, i: int, path: I1, r: int, x: F1) -> float:
    """Write the counts of row r at a branch of root i to x; returns their sum."""
    total = m.total[r]
    for k in range(m.size[r]):
        x[k] = m.alpha[r, k]
    if m.learnt[r]:
        low = r * m.alpha.shape[1]
        high = low + m.alpha.shape[1]
        t, end = h.first[i], h.first[i + 1]
        while t < end:  # the first cell that is not below the row
            middle = (t + end) // 2
            if h.cell[middle] < low:
                t = middle + 1
            else:
                end = middle
        while t < h.first[i + 1] and h.cell[t] < high:
            x[h.cell[t] - low] += h.times[t]
            total += h.times[t]
            t += 1
        for c in path:
            if low <= c < high:
                x[c - low] += 1.0
                total += 1.0
    return total


@inlined
def present(m: Rows, s: int) -> range:
    """The states to which a hyper-state in state s belongs: all, if its episode has not begun."""
    return range(len(m.start)) if s == FRESH else range(s, s + 1)


@njit
def roots(h: HyperStates, width: int, pad: int) -> Branches:
    """The hyper-states themselves as branches, with room for paths of `width` cells."""
    n = len(h.state)
    return Branches(h.weight.copy(), h.state.copy(), np.arange(n), np.full((n, width), pad), h.key.copy())


@njit
def step(m: Rows, h: HyperStates, e: Branches, a: int, o: int, ended: bool) -> Branches:
    """The branches after action a, given observation o and whether a terminal state was reached; equal ones merge."""
    m, h = borrowed(m), borrowed(h)
    W, P = m.alpha.shape[1], e.path.shape[1]
    pad, x, z = len(m.mix), np.empty(W), np.empty(W)
    room = 0
    for i in range(len(e.state)):
        for s in present(m, e.state[i]):
            for k in range(m.size[m.move[s, a]]):
                y = m.succ[s, a, k]
                if m.terminal[y] == ended:
                    for j in range(m.size[m.show[y, a]]):
                        room += m.observation[y, a, j] == o
    new = Branches(
        np.zeros(room), np.empty(room, np.int64), np.empty(room, np.int64), np.empty((room, P), np.int64),
        np.empty(room, np.int64),
    )  # fmt: skip
    slots = 4
    while slots < 2 * room:
        slots *= 2
    table, n = np.full(slots, -1), 0
    for i in range(len(e.state)):
        for s in present(m, e.state[i]):
            w = e.weight[i] * (m.start[s] if e.state[i] < 0 else 1.0)
            g = m.move[s, a]
            moves = counts_in(m, h, e.root[i], e.path[i], g, x)
            for k in range(m.size[g]):
                y = m.succ[s, a, k]
                if w * x[k] == 0.0 or m.terminal[y] != ended:
                    continue
                r = m.show[y, a]
                shows = counts_in(m, h, e.root[i], e.path[i], r, z)
                for j in range(m.size[r]):
                    p = w * (x[k] / moves) * (z[j] / shows)
                    if m.observation[y, a, j] != o or p == 0.0:
                        continue
                    new.path[n] = e.path[i]
                    key = e.key[i]
                    if m.learnt[g] and moves < m.bound:
                        key = (key + insert(new.path[n], g * W + k, m.mix)) % KEYS
                    if m.learnt[r] and shows < m.bound:
                        key = (key + insert(new.path[n], r * W + j, m.mix)) % KEYS
                    new.weight[n], new.state[n], new.root[n], new.key[n] = p, y, e.root[i], key
                    n += merge(h, new, n, table, pad)
    return Branches(new.weight[:n], new.state[:n], new.root[:n], new.path[:n], new.key[:n])


@inlined
def insert(path: I1, c: int, mix: I1) -> int:
    """Insert a cell into an ascending path with room for it; returns its mix."""
    t = len(path) - 1
    while t > 0 and path[t - 1] > c:
        path[t] = path[t - 1]
        t -= 1
    path[t] = c
    return mix[c]


@njit
def merge(h: HyperStates, b: Branches, n: int, table: I1, pad: int) -> int:
    """Add branch n to those before it: 1 if it is new, 0 if an equal one has taken its weight."""
    slot = (b.key[n] + 7919 * b.state[n]) % len(table)
    while table[slot] >= 0:
        i = table[slot]
        if b.key[i] == b.key[n] and b.state[i] == b.state[n] and same_counts(h, b, i, n, pad):
            b.weight[i] += b.weight[n]
            return 0
        slot = (slot + 1) % len(table)
    table[slot] = n
    return 1


@njit
def same_counts(h: HyperStates, b: Branches, i: int, j: int, pad: int) -> bool:
    """Whether two branches have the same counts."""
    one, two = b.root[i], b.root[j]
    if one == two:
        return bool((b.path[i] == b.path[j]).all())
    more = 0  # counts of i less those of j
    for t in range(h.first[one], h.first[one + 1]):
        more += h.times[t]
        if count_of(h, b, i, h.cell[t]) != count_of(h, b, j, h.cell[t]):
            return False
    for t in range(h.first[two], h.first[two + 1]):
        more -= h.times[t]
    for t in range(b.path.shape[1]):
        more += int(b.path[i, t] < pad) - int(b.path[j, t] < pad)
        c = b.path[i, t]
        if c < pad and count_of(h, b, i, c) != count_of(h, b, j, c):
            return False
    return more == 0


@njit
def count_of(h: HyperStates, b: Branches, i: int, c: int) -> int:
    """How often branch i was counted up in cell c."""
    n = 0
    for t in range(h.first[b.root[i]], h.first[b.root[i] + 1]):
        if h.cell[t] == c:
            n += h.times[t]
    for t in range(b.path.shape[1]):
        n += b.path[i, t] == c
    return n


@njit
def grown(h: HyperStates, b: Branches, pad: int) -> HyperStates:
    """The branches as hyper-states with lists of their own and normalised weights."""
    n, P = b.path.shape
    room = 0
    for i in range(n):
        room += h.first[b.root[i] + 1] - h.first[b.root[i]] + P
    first, cell, count, u = np.zeros(n + 1, np.int64), np.empty(room, np.int64), np.empty(room, np.int64), 0
    for i in range(n):
        t, end, v = h.first[b.root[i]], h.first[b.root[i] + 1], 0
        while t < end or (v < P and b.path[i, v] < pad):
            old = h.cell[t] if t < end else pad
            new = b.path[i, v] if v < P else pad
            c, more = min(old, new), 0
            if old == c:
                more += h.times[t]
                t += 1
            if new == c:
                more += 1
                v += 1
            if u > first[i] and cell[u - 1] == c:
                count[u - 1] += more
            else:
                cell[u], count[u] = c, more
                u += 1
        first[i + 1] = u
    return HyperStates(
        b.weight / b.weight.sum(), b.state.copy(), first, cell[:u].copy(), count[:u].copy(), b.key.copy()
    )


@njit
def again(m: Rows, h: HyperStates) -> HyperStates:
    """The hyper-states at the start of a new episode: states are forgotten, and equal counts merge."""
    N, n = len(h.weight), 0
    slots = 4
    while slots < 2 * N:
        slots *= 2
    table, zero, pad = np.full(slots, -1), np.zeros(N, np.int64), len(m.mix)
    b = Branches(np.zeros(N), np.full(N, FRESH), zero, np.empty((N, 0), np.int64), np.zeros(N, np.int64))
    for i in range(N):
        b.weight[n], b.root[n], b.key[n] = h.weight[i], i, h.key[i]
        n += merge(h, b, n, table, pad)
    return grown(h, Branches(b.weight[:n], b.state[:n], b.root[:n], b.path[:n], b.key[:n]), pad)
