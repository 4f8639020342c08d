"""Parameters of a finite-state controller, and their gradient from simulated trajectories."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.random import Generator

from bayesrl.bamdp.offline._prior_models import PriorModels, absorbing
from bayesrl.checks import Floats, Ints
from bayesrl.kernels.arrays import F1, F3, F4, I3
from bayesrl.kernels.jit import njit

F5: TypeAlias = np.ndarray[tuple[int, int, int, int, int], np.dtype[np.float64]]


class Logits(NamedTuple):
    """Free parameters of a controller, whose soft-maxes are psi and eta. Gradients have the same form.

    Next states are the last axis, so loops over them read contiguous memory.
    """

    action: Floats  # (Q, S, A)
    node: Floats  # (Q, S, A, Q, S): q' of the edge (q, s, a, s')

    def probabilities(self) -> tuple[Floats, Floats]:
        """(psi, eta) with the axes of the parameters."""
        return softmax(self.action, -1), softmax(self.node, -2)

    def controller(self) -> tuple[Floats, Floats]:
        """(psi, eta) with the axes of a `Controller`."""
        psi, eta = self.probabilities()
        return psi, np.ascontiguousarray(eta.swapaxes(-1, -2))

    def moved(self, step: float, direction: Logits) -> Logits:
        """These parameters plus a step in a direction."""
        return Logits(self.action + step * direction.action, self.node + step * direction.node)

    def largest(self) -> float:
        """The largest absolute value of an entry."""
        return max(float(np.abs(self.action).max()), float(np.abs(self.node).max()))

    def squared(self) -> float:
        """The sum of squares."""
        return float(np.vdot(self.action, self.action) + np.vdot(self.node, self.node))


def softmax(x: Floats, axis: int) -> Floats:
    """Probabilities proportional to exp x along an axis."""
    p = np.exp(x - x.max(axis=axis, keepdims=True))
    p /= p.sum(axis=axis, keepdims=True)
    return np.asarray(p)


def monte_carlo_gradient(logits: Logits, models: PriorModels, horizon: int, rng: Generator) -> Logits:
    """Estimate the gradient of the `horizon`-step value, without bias, from one trajectory in each drawn model.

    The score of each choice (its indicator minus the probabilities) is multiplied by the discounted return after it,
    minus the mean return of the other trajectories. This baseline lowers the variance and leaves the expectation.
    """
    psi, eta = logits.probabilities()
    n = len(models.P)
    q, s, a, y, then = simulate(rng.random((n, horizon, 3)), rng.random(n), models.first, absorbing(models), psi, eta)
    rewards = models.gamma ** np.arange(horizon) * models.r[np.arange(n)[:, None], s, a]
    returns = np.cumsum(rewards[:, ::-1], axis=1)[:, ::-1]  # of step t and later, discounted to the first step
    returns = (returns - returns.mean(axis=0)) * n / (n - 1)  # subtract the mean of the other trajectories
    after = np.column_stack([returns[:, 1:], np.zeros(n)])
    return Logits(sum_scores(psi, -1, (q, s, a), returns / n), sum_scores(eta, -2, (q, s, a, then, y), after / n))


def sum_scores(p: Floats, axis: int, chosen: tuple[Ints, ...], weight: Floats) -> Floats:
    """Sum weight times the gradient of log p in the logits over all choices."""
    cell = np.ravel_multi_index(chosen, p.shape).ravel()
    total = np.bincount(cell, weight.ravel(), p.size).reshape(p.shape)
    return np.asarray(total - p * total.sum(axis=axis, keepdims=True))


@njit
def simulate(u: F3, u_first: F1, first: F1, P: F4, psi: F3, eta: F5) -> I3:
    """Simulate T steps in each model with uniform numbers u (n, T, 3): (q, s, a, s', q'), (5, n, T)."""
    n, T, _ = u.shape
    path = np.empty((5, n, T), np.int64)
    for i in range(n):
        q, s = 0, pick(first, u_first[i])
        for t in range(T):
            a = pick(psi[q, s], u[i, t, 0])
            y = pick(P[i, s, a], u[i, t, 1])
            then = pick(eta[q, s, a, :, y], u[i, t, 2])
            path[0, i, t], path[1, i, t], path[2, i, t], path[3, i, t], path[4, i, t] = q, s, a, y, then
            q, s = then, y
    return path


@njit
def pick(p: F1, u: float) -> int:
    """The index that a uniform number selects."""
    for k in range(len(p) - 1):
        u -= p[k]
        if u < 0.0:
            return k
    return len(p) - 1
