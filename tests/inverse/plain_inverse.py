"""Slow, obviously right forms of inverse reinforcement learning, which the tests compare with."""

import itertools

import numpy as np

import bayesrl as b

DEMONSTRATION = [(0, 1), (1, 1), (2, 1), (1, 1), (2, 1)]


def line(gamma=0.9):
    """Three states; left and right succeed with probability .8, else stay."""
    P = np.zeros((3, 2, 3))
    for s in range(3):
        for a, to in enumerate((max(s - 1, 0), min(s + 1, 2))):
            P[s, a, to] += 0.8
            P[s, a, s] += 0.2
    return b.TabularMDP.from_dense(P, np.zeros(3), gamma)


def optimal_q(P, R, gamma, sweeps=3000):
    """Value iteration; P (S, A, S), R (S, A)."""
    Q = np.zeros(R.shape)
    for _ in range(sweeps):
        Q = R + gamma * P @ Q.max(axis=1)
    return Q


def log_likelihood(P, R, gamma, pairs, confidence):
    """Sum of log softmax over pairs."""
    Q = confidence * optimal_q(P, R, gamma)
    return sum(Q[s, a] - np.log(np.exp(Q[s] - Q[s].max()).sum()) - Q[s].max() for s, a in pairs)


def lattice(values, d=3):
    """All vectors with these entries, (n, d)."""
    return np.array(list(itertools.product(values, repeat=d)))
