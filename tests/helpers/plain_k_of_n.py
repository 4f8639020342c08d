"""Oracles of k-of-n for test_k_of_n.py and benchmarks/risk.py: the paper's algorithm in plain Python, a linear program.

Models of the plain algorithm are nested lists P[s][a][y] and R[s][a]. An information set is a history, a tuple
(s0, a0, s1, ...).
"""

import itertools
import math

import numpy as np
from numpy.random import default_rng
from scipy.optimize import linprog

from bayesrl.beliefs import FiniteMDPs
from bayesrl.models.mdp import TabularMDP


def random_models(seed, count, S=3, A=2, gamma=0.95, shared=False):
    """Models with two or three next states of each pair, rewards of pairs, and two states to start in."""
    rng = default_rng(seed)
    P = rng.dirichlet(np.full(S, 0.7), (count, S, A)) * (rng.random((count, S, A, S)) < 0.8)
    P[..., 0] += 1e-3
    P /= P.sum(axis=-1, keepdims=True)
    R, start = rng.normal(size=(count, S, A)), np.eye(S)[0] * 0.6 + np.eye(S)[1] * 0.4
    return tuple(TabularMDP.from_dense(P[0 if shared else i], R[i], gamma, start) for i in range(count))


def posterior(seed, count=3, **given):
    return FiniteMDPs(random_models(seed, count, **given), default_rng(seed).dirichlet(np.ones(count)))


def nested(models):
    return [(m.dense()[0].tolist(), m.mean_reward.tolist()) for m in models]


def k_of_n(models, draws, k, horizon, gamma, start, plus=False):
    """The sum of weighted realisation plans, {history: [x of each action]}; one iteration for each row of `draws`.

    Also the strategy of the next iteration, as a function of the history.
    """
    A = len(models[0][1][0])
    regret, total = {}, {}

    def strategy(h):
        positive = [max(r, 0.0) for r in regret.get(h, [0.0] * A)]
        whole = sum(positive)
        return [r / whole if whole > 0.0 else 1.0 / A for r in positive]

    def value(model, h, t):
        """The expected total of the current strategy in one model, from a history on."""
        P, R = model
        s, sigma, v = h[-1], strategy(h), 0.0
        for a in range(A):
            later = 0.0
            if t + 1 < horizon:
                later = sum(p * value(model, (*h, a, y), t + 1) for y, p in enumerate(P[s][a]) if p > 0.0)
            v += sigma[a] * (R[s][a] + gamma * later)
        return v

    def walk(chosen, reach, h, t, own, weight):
        """Counterfactual value of a history: what follows, times the probability of its states, on average over models.

        Regrets change after the whole iteration, so they are collected.
        """
        s, sigma = h[-1], strategy(h)
        q = []
        for a in range(A):
            earned = sum(c * R[s][a] for c, (_, R) in zip(reach, chosen, strict=True)) * gamma**t / len(chosen)
            if t + 1 < horizon:
                for y in range(len(models[0][0])):
                    after = [c * P[s][a][y] for c, (P, _) in zip(reach, chosen, strict=True)]
                    if any(P[s][a][y] > 0.0 for P, _ in models):
                        earned += walk(chosen, after, (*h, a, y), t + 1, own * sigma[a], weight)
            q.append(earned)
        v = sum(p * x for p, x in zip(sigma, q, strict=True))
        gains[h] = [x - v for x in q]
        old = total.get(h, [0.0] * A)
        total[h] = [x + weight * own * p for x, p in zip(old, sigma, strict=True)]
        return v

    for i, drawn in enumerate(draws):
        gains = {}
        sample = [models[j] for j in drawn]
        returns = [sum(p * value(m, (s,), 0) for s, p in enumerate(start) if p > 0.0) for m in sample]
        worst = sorted(range(len(sample)), key=lambda j: returns[j])[:k]
        for s, p in enumerate(start):
            if p > 0.0:
                walk([sample[j] for j in worst], [p] * k, (s,), 0, 1.0, i + 1.0 if plus else 1.0)
        for h, gain in gains.items():
            new = [r + g for r, g in zip(regret.get(h, [0.0] * A), gain, strict=True)]
            regret[h] = [max(r, 0.0) for r in new] if plus else new
    return total, strategy


class Program:
    """The linear program of the best realisation plan over all histories; returns are rows of `c` times the plan."""

    def __init__(self, belief, horizon):
        models, S, A = belief.models, belief.n_states, belief.n_actions
        columns, rows, right, self.c = {}, [], [], [[] for _ in models]
        start = models[0].outcomes.start
        levels = [((s,), [start[s]] * len(models), None) for s in range(S) if start[s] > 0.0]
        for t in range(horizon):
            later = []
            for h, reach, parent in levels:
                for a in range(A):
                    columns[h, a] = len(columns)
                    for j, m in enumerate(models):
                        self.c[j].append(reach[j] * m.gamma**t * m.mean_reward[h[-1], a])
                rows.append({columns[h, a]: 1.0 for a in range(A)} | ({} if parent is None else {parent: -1.0}))
                right.append(1.0 if parent is None else 0.0)
                for a, y in itertools.product(range(A), range(S)):
                    after = [q * m.matrix[h[-1] * A + a, y] for q, m in zip(reach, models, strict=True)]
                    later.append(((*h, a, y), after, columns[h, a]))
            levels = later
        self.c = np.array(self.c)
        self.rows = np.zeros((len(rows), len(columns)))
        for i, row in enumerate(rows):
            self.rows[i, list(row)] = list(row.values())
        self.right, self.weights = np.array(right), belief.posterior()

    def best(self, k, n):
        """The largest expected mean of the k worst of n draws.

        The mean of the k worst of numbers v is the largest of t - sum max(t - v, 0) / k over t. Each multiset of draws
        has its own t.
        """
        M, X = len(self.weights), self.c.shape[1]
        bags = list(itertools.combinations_with_replacement(range(M), n))
        below, cost = [], [np.zeros(X)]
        for bag in bags:
            counts = np.bincount(bag, minlength=M)
            p = math.factorial(n) * np.prod(self.weights**counts / [math.factorial(m) for m in counts.tolist()])
            cost.append(p * np.array([-1.0, *(counts / k)]))
        width = X + len(bags) * (1 + M)
        for i, j in itertools.product(range(len(bags)), range(M)):  # t - u_j <= v_j
            row = np.zeros(width)
            row[:X], at = -self.c[j], X + i * (1 + M)
            row[at], row[at + 1 + j] = 1.0, -1.0
            below.append(row)
        equal = np.hstack([self.rows, np.zeros((len(self.rows), width - X))])
        limits = [(0, None)] * X + ([(None, None)] + [(0, None)] * M) * len(bags)
        found = linprog(np.concatenate(cost), np.array(below), np.zeros(len(below)), equal, self.right, limits)
        assert found.status == 0
        return -found.fun
