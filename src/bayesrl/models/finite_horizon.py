"""Finite horizons by backward induction (Puterman 1994, section 4.5).

V_0 = 0 and V_{n+1} = max_a R + gamma P V_n. The discount is the model's own unless another one is given: the optima of
the worlds over so many steps are undiscounted. A terminal state ends the count.  Cost: O(horizon times transitions).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from bayesrl.checks import Floats, Ints, integer, number
from bayesrl.models.solution import policy_matrix, table_of


class FiniteHorizon(NamedTuple):
    """The optimum with so many steps to go."""

    values: Floats
    """values[n, s]: the optimal return with n steps to go, shape (horizon + 1, S)."""
    q: Floats
    """Action values at the first step, shape (S, A)."""
    policy: Ints
    """policy[t, s]: the first optimal action at step t, shape (horizon, S)."""
    start_value: float
    """The optimal return from the start distribution."""


def finite_horizon(problem: Any, horizon: int, gamma: float | None = None) -> FiniteHorizon:
    """Optimal values and policies for every number of steps to go."""
    mdp = table_of(problem, "finite_horizon")
    horizon = integer("finite_horizon", "horizon", horizon, 1)
    discount = mdp.gamma if gamma is None else number("finite_horizon", "gamma", gamma, 0.0, 1.0)
    S, A = mdp.group.shape
    values, policy = np.zeros((horizon + 1, S)), np.zeros((horizon, S), np.int32)
    q = np.zeros((S, A))
    for n in range(horizon):
        q = mdp.mean_reward + discount * (mdp.matrix @ values[n]).reshape(S, A)
        values[n + 1] = q.max(axis=1)
        policy[horizon - 1 - n] = q.argmax(axis=1)
    return FiniteHorizon(values, q, policy, float(mdp.outcomes.start @ values[horizon]))


def optimal_total(problem: Any, steps: int) -> float:
    """The largest expected undiscounted total over so many steps from the start distribution."""
    mdp = table_of(problem, "optimal_total")
    S, A = mdp.group.shape
    V = np.zeros(S)
    for _ in range(integer("optimal_total", "steps", steps, 1)):
        V = (mdp.mean_reward + (mdp.matrix @ V).reshape(S, A)).max(axis=1)
    return float(mdp.outcomes.start @ V)


def policy_total(problem: Any, policy: ArrayLike, steps: int) -> float:
    """The expected undiscounted total of a stationary policy, (S,) actions or (S, A) probabilities."""
    mdp = table_of(problem, "policy_total")
    S, A = mdp.group.shape
    weight = policy_matrix("policy_total", policy, S, A)
    P = np.einsum("sa,say->sy", weight, mdp.matrix.reshape(S, A, S))
    r = np.einsum("sa,sa->s", weight, mdp.mean_reward)
    V = np.zeros(S)
    for _ in range(integer("policy_total", "steps", steps, 1)):
        V = r + P @ V
    return float(mdp.outcomes.start @ V)
