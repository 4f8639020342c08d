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
        last, Q = Q, R + gamma * P @ Q.max(axis=1)
        if np.abs(Q - last).max() < 1e-14:
            break
    return Q


def log_likelihood(P, R, gamma, pairs, rationality):
    """Sum of log softmax over pairs."""
    Q = rationality * optimal_q(P, R, gamma)
    return sum(Q[s, a] - np.log(np.exp(Q[s] - Q[s].max()).sum()) - Q[s].max() for s, a in pairs)


def lattice(values, d=3):
    """All vectors with these entries, (n, d)."""
    return np.array(list(itertools.product(values, repeat=d)))


def policy_walk(mdp, phi, pairs, rationality, low, step, log_prior, at, sweeps, rng, chosen=None, shares=None):
    """PolicyWalk with value iteration for every proposal; phi (S, A, d), log_prior (n,), at (d,). Draws (n, d).

    Weights are chosen in proportion to `chosen` (d,), and the log posterior of a sweep is multiplied by its share.
    """
    below = np.cumsum([1.0] * len(at) if chosen is None else chosen)
    P, draws, at = mdp.dense()[0], [], list(at)

    def posterior(at):
        R = phi @ (low + step * np.array(at))
        return sum(log_prior[j] for j in at) + log_likelihood(P, R, mdp.gamma, pairs, rationality)

    now = posterior(at)
    for t in range(sweeps):
        share = 1.0 if shares is None else shares[t]
        for _ in at:
            i, sign, u = int((below <= rng.random() * below[-1]).sum()), 1 if rng.random() < 0.5 else -1, rng.random()
            new = [j + sign * (k == i) for k, j in enumerate(at)]
            if 0 <= new[i] < len(log_prior):
                other = posterior(new)
                if np.log(u) < share * (other - now):
                    at, now = new, other
        draws.append(low + step * np.array(at))
    return np.array(draws)


def within_batch_means(x, expected, errors=5.0, batches=50):
    """Whether the means of the draws of a chain, (n, k), are within so many batch-means standard errors of (k,)."""
    means = x[: len(x) // batches * batches].reshape(batches, -1, x.shape[1]).mean(axis=1)
    error = means.std(axis=0, ddof=1) / np.sqrt(batches)
    return bool((np.abs(means.mean(axis=0) - expected) <= errors * error + 1e-12).all())
