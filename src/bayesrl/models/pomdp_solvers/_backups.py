"""Backups at single beliefs, for point-based solvers: sparse in transitions and in observations.

The value of a belief b is V(b) = max_i b . alpha_i. One step ahead of it,

    Q(b, a) = b . r_a + gamma sum_o max_i w_ao . alpha_i,    w_ao(s') = Omega(o|s', a) sum_s T(s'|s, a) b(s).

`Successors` lists every w_ao of a set of beliefs. Terminal states are left out of them: there every alpha-vector is
zero. So it does not matter whether the end of an episode is seen.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bayesrl.checks import frozen
from bayesrl.kernels.arrays import B1, F1, F2, I1, I2, I3
from bayesrl.kernels.jit import any_order, inlined, njit
from bayesrl.kernels.ties import better, first_best
from bayesrl.models.pomdp import TabularPOMDP


class Arrays(NamedTuple):
    """The arrays that the kernels read of a POMDP. G and H are numbers of groups, K and L of outcomes."""

    succ: I3  # (S, A, K)
    prob: F2  # (G, K)
    group: I2  # (S, A)
    size: I1  # (G,)
    observation: I3  # (S, A, L)
    observation_prob: F2  # (H, L)
    observation_group: I2  # (S, A)
    observation_size: I1  # (H,)
    Z: int
    r: F2  # (S, A)
    terminal: B1  # (S,)
    gamma: float


class Successors(NamedTuple):
    """The vectors w_ao of B beliefs: those of belief i are at first[c] to first[c + 1] - 1, c = (i A + a) Z + o."""

    first: I1  # (B A Z + 1,)
    state: I1  # s'
    weight: F1  # w_ao(s')


def arrays_of(pomdp: TabularPOMDP) -> Arrays:
    """The arrays of a POMDP."""
    o, observed = pomdp.mdp.outcomes, pomdp.observed
    return Arrays(
        o.succ, pomdp.mdp.prob, o.group, o.size,
        observed.observation, pomdp.observation_prob, observed.group, observed.size, observed.n_observations,
        frozen(np.ascontiguousarray(pomdp.mean_reward)), o.terminal, pomdp.gamma,
    )  # fmt: skip


@njit
def predict(m: Arrays, b: F1, a: int) -> F1:
    """sum_s T(s'|s, a) b(s), without terminal states."""
    y: F1 = np.zeros(len(b))
    for s in range(len(b)):
        if b[s] > 0.0:
            g = m.group[s, a]
            for k in range(m.size[g]):
                y[m.succ[s, a, k]] += m.prob[g, k] * b[s]
    for s in range(len(b)):
        if m.terminal[s]:
            y[s] = 0.0
    return y


@njit
def successors(m: Arrays, points: F2) -> Successors:
    """Every w_ao of these beliefs (B, S)."""
    (B, S), A = points.shape, m.r.shape[1]
    first = np.zeros(B * A * m.Z + 1, np.int64)
    state, weight, at = np.zeros(0, np.int32), np.zeros(0), first
    for filling in (False, True):  # count, then fill
        if filling:
            first = np.cumsum(first)
            state, weight, at = np.zeros(first[-1], np.int32), np.zeros(first[-1]), first.copy()
        for i in range(B):
            for a in range(A):
                y = predict(m, points[i], a)
                for s in range(S):
                    if y[s] > 0.0:
                        h = m.observation_group[s, a]
                        for k in range(m.observation_size[h]):
                            if m.observation_prob[h, k] > 0.0:
                                c = (i * A + a) * m.Z + m.observation[s, a, k]
                                if filling:
                                    state[at[c]], weight[at[c]] = s, y[s] * m.observation_prob[h, k]
                                    at[c] += 1
                                else:
                                    first[c + 1] += 1
    return Successors(first, state, weight)


@any_order
def products(w: Successors, c: int, columns: F2, v: F1) -> None:
    """Write w_c . alpha_j into v (N,) for all columns alpha_j, four states at a time."""
    v[:] = 0.0
    n, end = w.first[c], w.first[c + 1]
    while n + 4 <= end:
        w0, w1, w2, w3 = w.weight[n], w.weight[n + 1], w.weight[n + 2], w.weight[n + 3]
        x0, x1 = columns[w.state[n]], columns[w.state[n + 1]]
        x2, x3 = columns[w.state[n + 2]], columns[w.state[n + 3]]
        for j in range(len(v)):
            v[j] += w0 * x0[j] + w1 * x1[j] + w2 * x2[j] + w3 * x3[j]
        n += 4
    for i in range(n, end):
        w0, x0 = w.weight[i], columns[w.state[i]]
        for j in range(len(v)):
            v[j] += w0 * x0[j]


@njit
def look_ahead(m: Arrays, i: int, b: F1, w: Successors, columns: F2) -> tuple[F1, I2]:
    """Q(b, a) (A,) of belief i, and the best alpha-vector after each observation (A, Z); `columns` holds them (S, N).

    After an observation that b rules out, the best one is that of the prediction without an observation.
    """
    (S, A), N = m.r.shape, columns.shape[1]
    q, pick = np.zeros(A), np.zeros((A, m.Z), np.int64)
    v: F1 = np.empty(N)
    for a in range(A):
        blind = -1
        for s in range(S):
            q[a] += b[s] * m.r[s, a]
        for o in range(m.Z):
            c = (i * A + a) * m.Z + o
            if w.first[c] == w.first[c + 1]:
                if blind < 0:
                    y = predict(m, b, a)
                    v[:] = 0.0
                    for s in range(S):
                        if y[s] > 0.0:
                            for j in range(N):
                                v[j] += y[s] * columns[s, j]
                    blind = first_best(v)
                pick[a, o] = blind
                continue
            products(w, c, columns, v)
            pick[a, o] = first_best(v)
            q[a] += m.gamma * v[pick[a, o]]
    return q, pick


@njit
def assemble(m: Arrays, a: int, pick: I1, vectors: F2) -> F1:
    """The alpha-vector r_a + gamma sum_s' T(s'|s, a) sum_o Omega(o|s', a) alpha_pick(o)(s'), (S,)."""
    S = vectors.shape[1]
    after, alpha = np.zeros(S), np.zeros(S)
    for s in range(S):
        h = m.observation_group[s, a]
        for k in range(m.observation_size[h]):
            after[s] += m.observation_prob[h, k] * vectors[pick[m.observation[s, a, k]], s]
    for s in range(S):
        g, total = m.group[s, a], 0.0
        for k in range(m.size[g]):
            total += m.prob[g, k] * after[m.succ[s, a, k]]
        alpha[s] = m.r[s, a] + m.gamma * total
    return alpha


@njit
def controller(m: Arrays, points: F2, w: Successors, vectors: F2) -> tuple[I1, I2]:
    """A node for each belief: its action, and the node after each observation (B, Z); greedy for the next vectors."""
    B, columns = len(points), vectors.T.copy()
    new, chosen, after = np.empty(points.shape), np.empty(B, np.int64), np.empty((B, m.Z), np.int64)
    for i in range(B):
        q, pick = look_ahead(m, i, points[i], w, columns)
        a = first_best(q)
        new[i] = assemble(m, a, pick[a], vectors)
    columns = new.T.copy()
    for i in range(B):
        q, pick = look_ahead(m, i, points[i], w, columns)
        chosen[i] = first_best(q)
        after[i] = pick[chosen[i]]
    return chosen, after


@njit
def values_ahead(m: Arrays, points: F2, columns: F2) -> F2:
    """Q(b, a) of each belief, (B, A)."""
    q: F2 = np.empty((len(points), m.r.shape[1]))
    for i in range(len(points)):
        w = successors(m, points[i : i + 1])
        q[i] = look_ahead(m, 0, points[i], w, columns)[0]
    return q


@njit
def sweep(m: Arrays, points: F2, w: Successors, vectors: F2, actions: I1) -> tuple[F2, I1, F1]:
    """Back up every belief once, all from the same vectors. Returns vectors, their actions, and values at the beliefs.

    The first B vectors are those of the beliefs; one that would lose keeps its best old vector. Then come old vectors
    on which a belief's new value rests and which the new ones do not replace: those that are better after some
    observation. So one step ahead of the new vectors no belief has less than now, and its value does not fall.
    """
    B, S = points.shape
    columns = vectors.T.copy()
    new, chosen, picks = np.empty((B, S)), np.empty(B, np.int64), np.empty((B, m.Z), np.int64)
    for i in range(B):
        q, pick = look_ahead(m, i, points[i], w, columns)
        a = first_best(q)
        new[i], chosen[i], picks[i] = assemble(m, a, pick[a], vectors), a, pick[a]
        old = np.dot(vectors, points[i])
        best = first_best(old)
        if better(old[best], np.dot(new[i], points[i])):
            new[i], chosen[i] = vectors[best], actions[best]
    stays, v = still_needed(m, w, new, chosen, picks, vectors), np.empty(B)
    new, chosen = np.concatenate((new, vectors[stays])), np.concatenate((chosen, actions[stays].astype(np.int64)))
    for i in range(B):
        v[i] = np.dot(new, points[i]).max()
    return new, chosen, v


@njit
def without_repetitions(vectors: F2, actions: I1) -> tuple[F2, I1]:
    """The different vectors, in the order of their first places, with the actions of these."""
    first = np.empty(len(vectors), np.int64)
    n = 0
    for i in range(len(vectors)):
        j = 0
        while j < n and not same(vectors[first[j]], vectors[i]):
            j += 1
        if j == n:
            first[n] = i
            n += 1
    return vectors[first[:n]], actions[first[:n]]


@inlined
def same(x: F1, y: F1) -> bool:
    """Whether two vectors are equal in every entry."""
    s = 0
    while s < len(x) and x[s] == y[s]:
        s += 1
    return s == len(x)


@njit
def still_needed(m: Arrays, w: Successors, new: F2, chosen: I1, picks: I2, vectors: F2) -> B1:
    """Which old vectors are better than all new ones where a belief has picked them."""
    A, columns, x = m.r.shape[1], new.T.copy(), np.empty(len(new))
    stays, slack = np.zeros(len(vectors), np.bool_), 1e-12 * np.abs(vectors).max()
    for i in range(len(picks)):
        for o in range(m.Z):
            c, j = (i * A + chosen[i]) * m.Z + o, picks[i, o]
            if w.first[c] < w.first[c + 1] and not stays[j]:
                before = 0.0
                for n in range(w.first[c], w.first[c + 1]):
                    before += w.weight[n] * vectors[j, w.state[n]]
                products(w, c, columns, x)
                stays[j] = x.max() < before - slack
    return stays
