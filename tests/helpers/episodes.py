"""Small undiscounted problems that end, and their answers by enumeration and linear systems, state by state.

`proper(seed)` has three states that may come back and an end, state 3. Every row ends with a positive probability or
leads on, so that every policy ends. `endless(seed)` is the same, but in states 1 and 2 an action stays in both.
"""

from itertools import product

import numpy as np

from bayesrl.models.mdp import TabularMDP

END = 3


def tables(seed, sign=None):
    """(P, R): rows (4, 2, 4) in which states 0 and 2 may end at once and state 1 only by way of others."""
    rng = np.random.default_rng(seed)
    P = rng.dirichlet(np.ones(4), (4, 2))
    P[1, :, END] = 0.0
    P[1, 0, 2] += 0.2
    P[0, 1, 1] = 0.0
    P[END] = np.eye(4)[END]
    P /= P.sum(axis=2, keepdims=True)
    R = rng.normal(size=(4, 2, 4))
    R[END] = 0.0
    return P, R if sign is None else sign * np.abs(R)


def proper(seed=0, sign=None):
    """A problem that ends under every policy."""
    P, R = tables(seed, sign)
    return TabularMDP.from_dense(P, R, 1.0, terminal=[END])


def endless(seed=0):
    """One in which action 1 of states 1 and 2 stays in them."""
    P, R = tables(seed)
    P[1, 1] = P[2, 1] = [0.0, 0.5, 0.5, 0.0]
    return TabularMDP.from_dense(P, R, 1.0, terminal=[END])


def dense(mdp):
    """P (S, A, S) with empty rows of ends, and mean rewards (S, A)."""
    P = mdp.dense()[0].copy()
    P[mdp.outcomes.terminal] = 0.0
    return P, mdp.mean_reward


def chances(pi, A=2):
    """A policy as probabilities, (S, A)."""
    return np.eye(A)[np.asarray(pi)] if np.ndim(pi) == 1 else np.asarray(pi)


def value_of(P, r, pi):
    """V of a policy, by a linear system."""
    mu = chances(pi, P.shape[1])
    return np.linalg.solve(np.eye(len(P)) - np.einsum("sa,say->sy", mu, P), (mu * r).sum(axis=1))


def policies(S, A=2, last=True):
    """All deterministic policies; the last state, an end, takes action 0."""
    return [np.array((*pi, 0) if last else pi) for pi in product(range(A), repeat=S - last)]


def best_values(P, r):
    """max_pi V_pi(s) of each state, over all deterministic policies."""
    return np.max([value_of(P, r, pi) for pi in policies(len(P), P.shape[1])], axis=0)


def best_q(P, r):
    """Q*, (S, A)."""
    return r + P @ best_values(P, r)


def longest_lengths(P):
    """The longest expected episode from each state, over all deterministic policies."""
    live = (P.sum(axis=(1, 2)) > 0.0)[:, None] * np.ones(P.shape[:2])
    return best_values(P, live)
