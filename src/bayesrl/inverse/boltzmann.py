"""Action values of an expert that acts as it values: the Boltzmann backup (Babes et al. 2011; survey §7.2).

    Q(s, a) = R(s, a) + gamma sum_s' P(s'|s, a) V(s'),   V(s) = sum_a p(a|s) Q(s, a),   p = softmax(c Q).

The operator is no contraction for large c, and it may have several fixed points. The one here is the limit of the
iteration from zero; where there is none, `NotConverged`. With D(s, a) = dV(s)/dQ(s, a) = p (1 + c (Q - V)), the fixed
point's derivative in the weights is

    dQ = F + gamma P dV,   (I - gamma D P) dV = D F,

whose adjoint gives the gradient of a likelihood by one transposed system. The policy is *not* held fixed: D would be p.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse, special

from bayesrl.beliefs.rewards.demonstrations import Counts, log_likelihood, pairs_of, slope
from bayesrl.beliefs.rewards.linear_rewards import LinearRewards, rewarded
from bayesrl.checks import Floats, frozen, number
from bayesrl.errors import NotConverged
from bayesrl.kernels.arrays import F2
from bayesrl.kernels.dynamic_programming.bellman import Model, backup
from bayesrl.kernels.jit import njit
from bayesrl.models.mdp import Problem, model_of
from bayesrl.renamed import with_old_words

SWEEPS = 20_000
"""The most iterations."""
ACCURACY = 1e-13
"""The change of a value, as a share of the largest, at which the iteration stops."""


class BoltzmannBackup:
    """The fixed points of a problem for one rationality, as functions of the weights."""

    def __init__(self, owner: str, rewards: LinearRewards, rationality: float) -> None:
        self.owner, self.rewards, self.c = owner, rewards, float(rationality)
        self.model = model_of(rewarded(rewards.mdp, np.zeros(rewards.mdp.group.shape)))

    def q(self, w: Floats) -> Floats:
        """Q, (S, A)."""
        m = self.model._replace(r=frozen(self.rewards.table(w)))
        Q, change = fixed_point(m, self.c, ACCURACY, SWEEPS)
        if not change <= ACCURACY:
            raise NotConverged(self.owner, Q, change * float(np.abs(Q).max()), f"{SWEEPS} Boltzmann backups")
        return Q

    def log_likelihood(self, w: Floats, n: Counts) -> tuple[float, Floats]:
        """Log probability of demonstrations, and its gradient, (d,)."""
        Q = self.q(w)
        return log_likelihood(Q, n, self.c), self.gradient(Q, slope(Q, n, self.c))

    def gradient(self, Q: Floats, y: Floats) -> Floats:
        """y' dQ/dw, (d,), for y (S, A) at a fixed point."""
        r = self.rewards
        p = special.softmax(self.c * Q, axis=1)
        V = (p * Q).sum(axis=1, keepdims=True)
        D = p * (1.0 + self.c * (Q - V))
        x = self._transposed(D, r.mdp.gamma * (r.P.T @ y.ravel()))
        return np.asarray(np.einsum("sa,sad->d", y + x[:, None] * D, r.features))

    def _transposed(self, D: Floats, b: Floats) -> Floats:
        """Solve (I - gamma D P)' x = b."""
        S, A = D.shape
        P, gamma = self.rewards.P, self.rewards.mdp.gamma
        if not sparse.issparse(P):
            return np.linalg.solve(np.eye(S) - gamma * np.einsum("sa,say->ys", D, P.reshape(S, A, S)), b)
        from scipy.sparse.linalg import splu

        own: Any = sparse.csr_array((D.ravel(), np.arange(S * A), np.arange(0, S * A + 1, A)), shape=(S, S * A))
        system: Any = sparse.csc_array(-gamma * (own @ P))
        system.setdiag(system.diagonal() + 1.0)
        return np.asarray(splu(system).solve(b, trans="T"))


@with_old_words
def boltzmann_q(problem: Problem, weights: ArrayLike, rationality: float, features: ArrayLike | None = None) -> Floats:
    """The action values of an expert that takes action a with probability proportional to exp(rationality Q(s, a)).

    They are the limit of the Boltzmann backup, iterated from zero. If it does not converge, `NotConverged`.

    Parameters
    ----------
    problem: a TabularMDP or a world that has one
        Its rewards are ignored.
    weights: array of shape (d,)
    rationality: number greater than 0
    features = None: array of shape (S, d) or (S, A, d) or None
        None: each state has its own weight.

    Returns
    -------
    Q of shape (S, A)

    Examples
    --------
    >>> import bayesrl as b
    >>> line = b.TabularMDP.from_dense([[[1, 0], [0, 1]], [[1, 0], [0, 1]]], [0.0, 0.0], gamma=0.5)
    >>> boltzmann_q(line, [0.0, 1.0], rationality=1.0).round(4).tolist()
    [[0.3112, 0.8112], [1.3112, 1.8112]]
    """
    owner = "boltzmann_q"
    rewards = LinearRewards.of(owner, problem, features)
    w = rewards.weights(owner, weights)
    return frozen(BoltzmannBackup(owner, rewards, _rationality(owner, rationality)).q(w))


@with_old_words
def boltzmann_log_likelihood(
    problem: Problem, weights: ArrayLike, rationality: float, demo: Any, features: ArrayLike | None = None
) -> tuple[float, Floats]:
    """The log probability of demonstrated actions under the Boltzmann backup, and its gradient in the weights.

    The gradient is that of the fixed point: the expert's later behaviour changes with the weights as well.

    Parameters
    ----------
    problem: a TabularMDP or a world that has one
        Its rewards are ignored.
    weights: array of shape (d,)
    rationality: number greater than 0
    demo: a record, transitions, or pairs (state, action)
    features = None: array of shape (S, d) or (S, A, d) or None
        None: each state has its own weight.

    Returns
    -------
    the log probability, and its gradient of shape (d,)

    Examples
    --------
    >>> import bayesrl as b
    >>> line = b.TabularMDP.from_dense([[[1, 0], [0, 1]], [[1, 0], [0, 1]]], [0.0, 0.0], gamma=0.5)
    >>> value, gradient = boltzmann_log_likelihood(line, [0.0, 1.0], 1.0, [(0, 1)])
    >>> round(value, 4), gradient.round(4).tolist()
    (-0.4741, [-0.1888, 0.1888])
    """
    owner = "boltzmann_log_likelihood"
    rewards = LinearRewards.of(owner, problem, features)
    w, c = rewards.weights(owner, weights), _rationality(owner, rationality)
    n = Counts.of(pairs_of(owner, demo, rewards.mdp), rewards.mdp.n_actions)
    return BoltzmannBackup(owner, rewards, c).log_likelihood(w, n)


def _rationality(owner: str, rationality: float) -> float:
    return number(owner, "rationality", rationality, 0.0, above=True, moderate=True)


@njit
def fixed_point(m: Model, c: float, accuracy: float, sweeps: int) -> tuple[F2, float]:
    """Iterate v <- sum_a softmax(c q) q, q = r + gamma P v, from zero; returns q and the last change over the largest.

    One more backup follows the last change, so that q belongs to the last v.
    """
    S, A = m.r.shape
    v, q, change = np.zeros(S), np.zeros((S, A)), np.inf
    for _ in range(sweeps):
        backup(m, v, q)
        change, largest = 0.0, 0.0
        for s in range(S):
            top = -np.inf
            for a in range(A):
                top = max(top, q[s, a])
            total, mean = 0.0, 0.0
            for a in range(A):
                p = np.exp(c * (q[s, a] - top))
                total += p
                mean += p * q[s, a]
            mean /= total
            change, largest = max(change, abs(mean - v[s])), max(largest, abs(mean))
            v[s] = mean
        change = change / largest if largest > 0.0 else change
        if change <= accuracy:
            break
    backup(m, v, q)
    return q, change
