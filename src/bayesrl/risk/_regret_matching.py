"""The iterations of k-of-n, compiled: evaluate a strategy in n models, and match regrets against the k worst of them.

Letters: N information sets, A actions, E edges between sets, L listed next states of pairs, m models in a table. A plan
x[i, a] is the player's own part of the probability of taking a in set i (`_information_sets.py`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bayesrl.checks import all_frozen
from bayesrl.kernels.arrays import F1, F2, I1, I2
from bayesrl.kernels.jit import njit
from bayesrl.risk._draws import Drawn
from bayesrl.risk._information_sets import flow_of

WIDTH = 16
"""Models that are evaluated together."""


class Game(NamedTuple):
    """The arrays that iterations read of the sets; see `InformationSets` and `Flow`. L next states are listed."""

    state: I1  # (N,)
    discount: F1  # gamma^t, (N,)
    offset: I1  # (N A + 1,)
    child: I1  # (E,)
    flow: F1  # (E,)
    first: F1  # (N,)
    start: F1  # probability of the first state at the roots of histories, else 0, (N,)
    below: I1  # the next states of pair s A + a begin here, (S A + 1,)
    histories: bool


def game_of(drawn: Drawn) -> Game:
    """The information sets as arrays."""
    sets, model = drawn.sets, drawn.model
    flow = flow_of(sets, model)
    start = np.where(sets.step == 0, model.outcomes.start[sets.state], 0.0)
    below = np.searchsorted(drawn.pair, np.arange(model.group.size + 1))
    discount = np.asarray(model.gamma**sets.step, np.float64)
    return all_frozen(
        Game(sets.state, discount, sets.offset, sets.child, flow.edge, flow.first, start, below, sets.histories)
    )


@njit
def match(regret: F2) -> F2:
    """Regret matching: probabilities proportional to positive regrets, uniform if there are none, (N, A)."""
    N, A = regret.shape
    sigma = np.empty((N, A))
    for i in range(N):
        whole = 0.0
        for a in range(A):
            sigma[i, a] = max(regret[i, a], 0.0)
            whole += sigma[i, a]
        for a in range(A):
            sigma[i, a] = sigma[i, a] / whole if whole > 0.0 else 1.0 / A
    return sigma


@njit
def plan_of(game: Game, sigma: F2) -> tuple[F1, F2]:
    """The player's own probability of arriving in each set, (N,), and the plan x[i, a]."""
    N, A = sigma.shape
    arrive, x = game.first.copy(), np.empty((N, A))
    for i in range(N):
        for a in range(A):
            x[i, a] = arrive[i] * sigma[i, a]
            for e in range(game.offset[i * A + a], game.offset[i * A + a + 1]):
                arrive[game.child[e]] += game.flow[e] * x[i, a]
    return arrive, x


@njit
def returns_of(game: Game, arrive: F1, x: F2, prob: F2, reward: F2, column: I1) -> F1:
    """The return of a plan in each of n models, (n,). Sets in which the plan does not arrive are left out."""
    (N, A), n = x.shape, len(column)
    returns = np.zeros(n)
    if not game.histories:
        for i in range(N):
            for a in range(A):
                earned = game.discount[i] * x[i, a]
                for j in range(n):
                    returns[j] += earned * reward[game.state[i] * A + a, column[j]]
        return returns
    reach = np.empty((N, WIDTH))
    for low in range(0, n, WIDTH):
        width = min(WIDTH, n - low)
        P, R = columns_of(prob, column, low, width), columns_of(reward, column, low, width)
        for i in range(N):
            if arrive[i] == 0.0:
                continue
            if game.start[i] > 0.0:
                reach[i] = game.start[i]
            for a in range(A):
                pair, begin = game.state[i] * A + a, game.offset[i * A + a]
                earned = game.discount[i] * x[i, a]
                for j in range(width):
                    returns[low + j] += earned * reach[i, j] * R[pair, j]
                for e in range(begin, game.offset[i * A + a + 1]):
                    for j in range(width):
                        reach[game.child[e], j] = reach[i, j] * P[game.below[pair] + e - begin, j]
    return returns


@njit
def worst_of(returns: F1, column: I1, k: int) -> I1:
    """The columns of the k models with the smallest returns, the worst first; of equal ones the first drawn."""
    worst, at = np.empty(k), np.empty(k, np.int64)
    for j in range(len(returns)):
        i = min(j, k)
        while i > 0 and returns[j] < worst[i - 1]:
            if i < k:
                worst[i], at[i] = worst[i - 1], at[i - 1]
            i -= 1
        if i < k:
            worst[i], at[i] = returns[j], column[j]
    return at


@njit
def columns_of(table: F2, column: I1, low: int, width: int) -> F2:
    """Some columns of a table, side by side."""
    found = np.empty((len(table), width))
    for i in range(len(table)):
        for j in range(width):
            found[i, j] = table[i, column[low + j]]
    return found


@njit
def values_against(game: Game, sigma: F2, prob: F2, reward: F2, column: I1) -> F2:
    """Counterfactual values q[i, a] against the average of k models, (N, A)."""
    (N, A), k = sigma.shape, len(column)
    q = np.zeros((N, A))
    if game.histories:
        reach = np.empty((N, WIDTH))
        for low in range(0, k, WIDTH):
            width = min(WIDTH, k - low)
            P, R = columns_of(prob, column, low, width), columns_of(reward, column, low, width)
            for i in range(N):
                if game.start[i] > 0.0:
                    reach[i] = game.start[i]
                for a in range(A):
                    pair, begin = game.state[i] * A + a, game.offset[i * A + a]
                    for j in range(width):
                        q[i, a] += reach[i, j] * R[pair, j]
                    for e in range(begin, game.offset[i * A + a + 1]):
                        for j in range(width):
                            reach[game.child[e], j] = reach[i, j] * P[game.below[pair] + e - begin, j]
    else:
        for i in range(N):
            for a in range(A):
                for j in range(k):
                    q[i, a] += reward[game.state[i] * A + a, column[j]]
    v = np.zeros(N)
    for i in range(N - 1, -1, -1):
        for a in range(A):
            q[i, a] *= game.discount[i] / k
            for e in range(game.offset[i * A + a], game.offset[i * A + a + 1]):
                q[i, a] += game.flow[e] * v[game.child[e]]
            v[i] += sigma[i, a] * q[i, a]
    return q


@njit
def iterate(game: Game, prob: F2, reward: F2, which: I2, k: int, plus: bool, done: int, regret: F2, total: F2) -> None:
    """One iteration for each row of `which`, the columns of n models. Adds to the regrets and to the sum of plans."""
    N, A = regret.shape
    for t in range(len(which)):
        sigma = match(regret)
        arrive, x = plan_of(game, sigma)
        worst = worst_of(returns_of(game, arrive, x, prob, reward, which[t]), which[t], k)
        q = values_against(game, sigma, prob, reward, worst)
        weight = done + t + 1.0 if plus else 1.0
        for i in range(N):
            v = 0.0
            for a in range(A):
                v += sigma[i, a] * q[i, a]
            for a in range(A):
                regret[i, a] += q[i, a] - v
                if plus:
                    regret[i, a] = max(regret[i, a], 0.0)
                total[i, a] += weight * x[i, a]
