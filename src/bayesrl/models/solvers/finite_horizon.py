"""Finite horizons by backward induction (Puterman 1994, section 4.5; survey §2.2).

V_0 = 0 and V_{n+1} = max_a R + gamma P V_n. The discount is the model's own unless another is given. `optimal_total`
and `policy_total` do not discount. Nothing is earned after a terminal state.
Cost: one pass over the transitions for each step.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from bayesrl._shown import shown
from bayesrl.checks import Floats, Ints, integer, number
from bayesrl.core import Policy
from bayesrl.kernels.dynamic_programming.bellman import Model, backup, largest, policy_backup
from bayesrl.kernels.jit import njit
from bayesrl.kernels.ties import greedy
from bayesrl.models.mdp import Problem, mdp_of, model_of
from bayesrl.models.policy import policy_matrix
from bayesrl.models.solution import Indices
from bayesrl.models.solvers.evaluation import mixture


class FiniteHorizon(NamedTuple):
    """The optimum over a finite number of steps."""

    values: Floats
    """values[n, s]: the optimal return with n steps to go, shape (horizon + 1, S)."""
    q: Floats
    """Action values at the first step, shape (S, A)."""
    policy: Ints
    """policy[t, s]: the first optimal action at step t, shape (horizon, S)."""
    start_value: float
    """The optimal return from the start distribution."""

    def __repr__(self) -> str:
        return shown(self)


def finite_horizon(problem: Problem, horizon: int, gamma: float | None = None) -> FiniteHorizon:
    """Optimal values and policies for every number of steps to go, at discount gamma (the model's own if None).

    >>> from bayesrl.models.mdp import TabularMDP
    >>> stay_or_go = TabularMDP.from_dense([[[1, 0], [0, 1]], [[0, 1], [0, 1]]], [[0, 0], [1, 1]], gamma=0.5)
    >>> finite_horizon(stay_or_go, 3, gamma=1.0).values[:, 0].tolist()
    [0.0, 0.0, 1.0, 2.0]
    """
    mdp = mdp_of(problem, "finite_horizon")
    horizon = integer("finite_horizon", "horizon", horizon, 1)
    m = model_of(mdp, gamma=None if gamma is None else number("finite_horizon", "gamma", gamma, 0.0, 1.0))
    q, values, policy = np.empty(m.r.shape), np.zeros((horizon + 1, len(m.r))), np.empty((horizon, len(m.r)), np.int32)
    for n in range(horizon):
        backup(m, values[n], q)
        values[n + 1], policy[horizon - 1 - n] = q.max(axis=1), greedy(q)
    return FiniteHorizon(values, q, policy, float(mdp.outcomes.start @ values[horizon]))


def optimal_total(problem: Problem, steps: int) -> float:
    """The largest expected undiscounted total over a number of steps from the start distribution."""
    mdp = mdp_of(problem, "optimal_total")
    m = model_of(mdp, gamma=1.0)
    v = np.zeros(len(m.r))
    iterate_backups(m, v, integer("optimal_total", "steps", steps, 1))
    return float(mdp.outcomes.start @ v)


def policy_total(problem: Problem, policy: Policy | ArrayLike, steps: int) -> float:
    """The expected undiscounted total of a stationary policy, which may be actions (S,) or probabilities (S, A)."""
    mdp = mdp_of(problem, "policy_total")
    m = model_of(mdp, gamma=1.0)
    m = mixture(m, policy_matrix("policy_total", policy, *m.r.shape))
    v = np.zeros(len(m.r))
    iterate_policy_backups(m, np.zeros(len(v), np.int64), v, integer("policy_total", "steps", steps, 1))
    return float(mdp.outcomes.start @ v)


@njit
def iterate_backups(m: Model, v: Floats, steps: int) -> None:
    """v <- T^steps v."""
    q = np.empty(m.r.shape)
    for _ in range(steps):
        backup(m, v, q)
        for s in range(len(v)):
            v[s] = largest(q, s)


@njit
def iterate_policy_backups(m: Model, pi: Indices, v: Floats, steps: int) -> None:
    """v <- the values of the policy with `steps` more steps."""
    new = np.empty(len(v))
    for _ in range(steps):
        policy_backup(m, pi, v, new)
        v[:] = new
