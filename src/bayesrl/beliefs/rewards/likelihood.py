"""The likelihood of demonstrations: an expert that prefers good actions.

    p(D | w) = prod_i exp(c Q*(s_i, a_i)) / sum_b exp(c Q*(s_i, b)),

normalised for each pair. It depends on the pairs through their numbers n(s, a) only, so that its cost is that of the
demonstrated states. A constant added to all rewards changes nothing; c R with rationality 1 is R with rationality c.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import special

from bayesrl.checks import Floats, Ints


class Counts(NamedTuple):
    """How often each action was taken in the demonstrated states."""

    states: Ints
    """The demonstrated states, (n,)."""
    taken: Floats
    """n(s, a) for these states, (n, A)."""

    @staticmethod
    def of(pairs: Ints, n_actions: int) -> Counts:
        """Count pairs (N, 2)."""
        states, at = np.unique(pairs[:, 0], return_inverse=True)
        taken = np.bincount(at * n_actions + pairs[:, 1], minlength=len(states) * n_actions)
        return Counts(states, taken.reshape(len(states), n_actions).astype(np.float64))


def log_softmax(q: Floats, c: float) -> Floats:
    """Log probability of each action, (..., A), for action values q (..., A) and rationality c."""
    z = c * q
    z -= z.max(axis=-1, keepdims=True)
    return np.asarray(z - np.log(np.exp(z).sum(axis=-1, keepdims=True)))


def log_likelihood(q: Floats, n: Counts, c: float) -> float:
    """Log probability of the demonstrations given action values (S, A)."""
    return float((n.taken * log_softmax(q[n.states], c)).sum())


def slope(q: Floats, n: Counts, c: float) -> Floats:
    """The derivative of the log likelihood in the action values, (S, A): c (n(s, a) - n(s) p(a | s))."""
    y = np.zeros(q.shape)
    y[n.states] = c * (n.taken - n.taken.sum(axis=1, keepdims=True) * special.softmax(c * q[n.states], axis=-1))
    return y
