"""PolicyWalk: a random walk on a lattice of weights that keeps the optimal policy (Ramachandran and Amir 2007).

The walk keeps the optimal policy pi of its weights and K = (I - gamma P_pi)^-1. A move by h in weight i changes the
values of pi by h M_i, where M_i = F_i + gamma P K F_pi,i is computed once for each policy. If pi is still optimal, the
move costs O(S A). Otherwise policy iteration starts from pi and changes one state at a time. A change of the action in
state s changes one row of I - gamma P_pi, so K changes by a matrix of rank one (Sherman and Morrison 1950). K is
computed anew after `FRESH` changes, which bounds the rounding errors. `walk_many` is the same walk with sparse
factorisations, for more states than a dense K can have.

Every proposal takes three random numbers: the weight, the direction, and the acceptance. A proposal outside the box is
rejected. It is not redrawn: that would multiply the posterior by the number of neighbours inside the box.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from bayesrl.beliefs.rewards.demonstrations import Counts, log_likelihood
from bayesrl.beliefs.rewards.linear_rewards import Ground, LinearRewards
from bayesrl.checks import Bools, Floats, Ints
from bayesrl.kernels.jit import njit

FRESH = 256
"""Changes after which values and K are computed anew."""
PASSES = 1000
"""Passes of policy iteration through the states; rounding errors could make it cycle."""


class Lattice(NamedTuple):
    """The possible values low + j step of a weight."""

    low: float
    step: float
    log_prior: Floats
    """Log density of each value, (n,)."""
    slack: float
    """An action is better than another if it is so by more than this."""

    def weights(self, at: Ints) -> Floats:
        """The weights at a point of the lattice."""
        return np.asarray(self.low + self.step * at)


class Schedule(NamedTuple):
    """How a chain moves."""

    below: Floats
    """Cumulative probabilities with which weights are chosen, (d,)."""
    share: Floats
    """The factor of the log posterior in each sweep, (sweeps,)."""


# Few states ----------------------------------------------------------------------------------------------------------


@njit
def policy_walk(
    rng: Generator, g: Ground, n: Counts, c: float, grid: Lattice, go: Schedule, at: Ints, draws: Floats
) -> tuple[int, Floats]:
    """Walk from `at` (d,), which is moved; the last sweeps fill `draws` (n, d). Accepted proposals of these, and Q."""
    d, S, A = g.phi.shape
    pi, pi_, V, M, known = np.zeros(S, np.int64), np.zeros(S, np.int64), np.zeros(S), np.zeros((d, S, A)), np.zeros(d)
    R, R_, Q, Q_, K, K_ = table(S, A), table(S, A), table(S, A), table(S, A), table(S, S), table(S, S)
    age, accepted, dropped, L = FRESH + 1, 0, len(go.share) - len(draws), 0.0
    for t in range(len(go.share)):
        for _ in range(d):
            if age > FRESH:
                restart(g, grid, at, R, pi, K, V, Q)
                known[:], age = 0.0, 0
                L = fit(Q, n, c)
            i, up, u = place(go.below, rng.random()), rng.random() < 0.5, rng.random()
            h, j = (grid.step, at[i] + 1) if up else (-grid.step, at[i] - 1)
            if j < 0 or j >= len(grid.log_prior):  # outside the box: rejected
                continue
            if known[i] == 0.0:
                differentiate(g, pi, K, i, M[i])
                known[i] = 1.0
            changes = 0
            if not shift(Q, h, M[i], pi, grid.slack, Q_):
                copy(K, K_)
                add(R, h, g.phi[i], R_)
                for s in range(S):
                    V[s], pi_[s] = Q_[s, pi[s]], pi[s]
                changes = improve(g, R_, pi_, K_, V, Q_, grid.slack)
            L_ = fit(Q_, n, c)
            if np.log(u) < go.share[t] * (grid.log_prior[j] - grid.log_prior[at[i]] + L_ - L):
                at[i], L, age = j, L_, age + 1 + changes
                add(R, h, g.phi[i], R)
                Q, Q_ = Q_, Q
                if changes > 0:
                    K, K_, pi, pi_ = K_, K, pi_, pi
                    known[:] = 0.0
                accepted += t >= dropped
        if t >= dropped:
            for i in range(d):
                draws[t - dropped, i] = grid.low + grid.step * at[i]
    return accepted, Q


@njit
def table(rows: int, columns: int) -> Floats:
    """Zeros."""
    return np.zeros((rows, columns))


@njit
def copy(x: Floats, to: Floats) -> None:
    """Copy a table."""
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            to[i, j] = x[i, j]


@njit
def add(x: Floats, h: float, y: Floats, to: Floats) -> None:
    """Write x + h y."""
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            to[i, j] = x[i, j] + h * y[i, j]


@njit
def place(below: Floats, u: float) -> int:
    """The first of the cumulative weights above the share u of their total."""
    first, last = 0, len(below) - 1
    while first < last:
        middle = (first + last) // 2
        if below[middle] > u * below[-1]:
            last = middle
        else:
            first = middle + 1
    return first


@njit
def restart(g: Ground, grid: Lattice, at: Ints, R: Floats, pi: Ints, K: Floats, V: Floats, Q: Floats) -> None:
    """Rewards, K and the values of pi anew, then policy iteration."""
    d, S, _ = g.phi.shape
    R[:] = 0.0
    for i in range(d):
        add(R, grid.low + grid.step * at[i], g.phi[i], R)
    for s in range(S):
        for y in range(S):
            K[s, y] = 1.0 if s == y else 0.0
    for s in range(S):  # row s of the identity becomes row s of I - gamma P_pi
        v = np.zeros(S)
        for k in range(g.succ.shape[2]):
            for y in range(S):
                v[y] -= g.prob[s, pi[s], k] * K[g.succ[s, pi[s], k], y]
        change_row(K, V, s, v, 0.0)
    for s in range(S):
        V[s] = 0.0
        for y in range(S):
            V[s] += K[s, y] * R[y, pi[y]]
    improve(g, R, pi, K, V, Q, grid.slack)


@njit
def improve(g: Ground, R: Floats, pi: Ints, K: Floats, V: Floats, Q: Floats, slack: float) -> int:
    """Policy iteration, one state at a time. All arguments from pi on are changed; returns the number of changes."""
    S, A = R.shape
    changes = 0
    for _ in range(PASSES):
        before = changes
        for s in range(S):
            b = pi[s]
            for a in range(A):
                Q[s, a] = R[s, a]
                for k in range(g.succ.shape[2]):
                    Q[s, a] += g.prob[s, a, k] * V[g.succ[s, a, k]]
            for a in range(A):
                if Q[s, a] > Q[s, b]:
                    b = a
            gain = Q[s, b] - Q[s, pi[s]]
            if gain > slack:
                switch(g, pi, K, V, s, b, gain)
                changes += 1
        if changes == before:
            break
    return changes


@njit
def switch(g: Ground, pi: Ints, K: Floats, V: Floats, s: int, b: int, gain: float) -> None:
    """Take action b in state s, where it is better by `gain`."""
    v = np.zeros(len(pi))
    for k in range(g.succ.shape[2]):
        old, new = g.succ[s, pi[s], k], g.succ[s, b, k]
        for y in range(len(pi)):
            v[y] += g.prob[s, pi[s], k] * K[old, y] - g.prob[s, b, k] * K[new, y]
    change_row(K, V, s, v, gain)
    pi[s] = b


@njit
def change_row(K: Floats, V: Floats, s: int, v: Floats, gain: float) -> None:
    """Row s of I - gamma P_pi changes by u, and v = u'K: so K changes by -K e_s v / (1 + v_s), V by the new K e_s."""
    for x in range(len(V)):
        share = K[x, s] / (1.0 + v[s])
        V[x] += gain * share
        for y in range(len(V)):
            K[x, y] -= share * v[y]


@njit
def differentiate(g: Ground, pi: Ints, K: Floats, i: int, M: Floats) -> None:
    """M_i = F_i + gamma P K F_pi,i, (S, A): the derivative of the values of pi in weight i."""
    S, A = M.shape
    X = np.zeros(S)
    for y in range(S):
        if g.phi[i, y, pi[y]] != 0.0:
            for s in range(S):
                X[s] += K[s, y] * g.phi[i, y, pi[y]]
    for s in range(S):
        for a in range(A):
            M[s, a] = g.phi[i, s, a]
            for k in range(g.succ.shape[2]):
                M[s, a] += g.prob[s, a, k] * X[g.succ[s, a, k]]


@njit
def shift(Q: Floats, h: float, M: Floats, pi: Ints, slack: float, to: Floats) -> bool:
    """Q + h M; whether pi is optimal for it."""
    S, A = Q.shape
    optimal = True
    for s in range(S):
        for a in range(A):
            to[s, a] = Q[s, a] + h * M[s, a]
        least = to[s, pi[s]] + slack
        for a in range(A):
            optimal &= to[s, a] <= least
    return optimal


@njit
def fit(Q: Floats, n: Counts, c: float) -> float:
    """The log likelihood of the demonstrations."""
    L = 0.0
    for i in range(len(n.states)):
        q = Q[n.states[i]]
        top, total, taken, inner = q.max(), 0.0, 0.0, 0.0
        for a in range(len(q)):
            total += np.exp(c * (q[a] - top))
            taken += n.taken[i, a]
            inner += n.taken[i, a] * c * (q[a] - top)
        L += inner - taken * np.log(total)
    return L


# Many states ---------------------------------------------------------------------------------------------------------


def walk_many(
    rng: Generator,
    rewards: LinearRewards,
    n: Counts,
    c: float,
    grid: Lattice,
    go: Schedule,
    at: Ints,
    draws: Floats,
) -> tuple[int, Floats]:
    """The same walk; policies are evaluated by sparse factorisations, and values solved from those before the move."""
    S, A, d = rewards.features.shape
    solution = rewards.solve(grid.weights(at))
    Q, columns = np.array(solution.q), dict[int, Floats]()
    pi = Q.argmax(axis=1)
    factors, L = rewards.factors(pi), log_likelihood(Q, n, c)
    accepted, dropped, states = 0, len(go.share) - len(draws), np.arange(S)
    for t, share in enumerate(go.share):
        for _ in range(d):
            i = min(int(np.searchsorted(go.below, rng.random() * go.below[-1], side="right")), d - 1)
            sign, u = 1 if rng.random() < 0.5 else -1, rng.random()
            j = at[i] + sign
            if j < 0 or j >= len(grid.log_prior):
                continue
            if i not in columns:
                F = rewards.features[:, :, i]
                ahead: Any = rewards.P @ factors.solve(np.ascontiguousarray(F[states, pi]))
                columns[i] = F + rewards.mdp.gamma * ahead.reshape(S, A)
            new = Q + sign * grid.step * columns[i]
            better: Bools = new.max(axis=1) > new[states, pi] + grid.slack
            if better.any():
                w = grid.weights(at)
                w[i] += sign * grid.step
                new = np.array(rewards.solve(w, new.max(axis=1)).q)
            L_ = log_likelihood(new, n, c)
            with np.errstate(divide="ignore"):
                taken = np.log(u) < share * (grid.log_prior[j] - grid.log_prior[at[i]] + L_ - L)
            if taken:
                at[i], Q, L = j, new, L_
                accepted += t >= dropped
                if better.any():
                    pi, columns = Q.argmax(axis=1), {}
                    factors = rewards.factors(pi)
        if t >= dropped:
            draws[t - dropped] = grid.weights(at)
    return accepted, Q
