"""Average reward: gain and bias by policy iteration (Howard 1960; Puterman 1994, section 8.6; survey §2.2).

Without a discount, a problem that never ends has a gain g, the reward per step, and a bias h, the value of a state
relative to that: g + h(s) = max_a R(s, a) + sum_s' P(s'|s, a) h(s'). The best gain must be the same from every state.
This holds if every state can be reached from every other.

The first policy is optimal at a discount close to 1. A policy with several recurrent classes has no bias of this form;
the discounted values replace it. For every h, the extremes of max_a (R + P h) - h enclose the gain. `error_bound`
reports this interval.
Cost: one linear system for each policy.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from bayesrl._shown import shown
from bayesrl.checks import Floats
from bayesrl.errors import InvalidArgument
from bayesrl.kernels.dynamic_programming.bellman import (
    Model,
    backup,
    first_best,
    improve,
    policy_backup,
    rounding_error,
)
from bayesrl.kernels.ties import greedy
from bayesrl.models.mdp import Problem, mdp_of, model_of
from bayesrl.models.policy import TabularPolicy
from bayesrl.models.solution import Indices
from bayesrl.models.solvers.evaluation import policy_rows
from bayesrl.models.solvers.policy_iteration import policy_iteration

NEARLY_ONE = 1.0 - 1e-6
"""The discount of the first policy."""
POLICIES = 1000
"""Largest number of policies."""


class AverageReward(NamedTuple):
    """The optimal reward per step, and a policy that attains it."""

    gain: float
    """Reward per step in the long run."""
    bias: Floats
    """h(s), zero in the last state, shape (S,)."""
    policy: TabularPolicy
    """The first best action of each state."""
    error_bound: float
    """The best gain is within this of `gain`."""
    iterations: int
    """Policies evaluated."""

    def __repr__(self) -> str:
        return shown(self)


def average_reward(problem: Problem) -> AverageReward:
    """The optimal gain and bias of a problem that never ends.

    >>> from bayesrl.models.mdp import TabularMDP
    >>> to_and_fro = TabularMDP.from_dense([[[0, 1]], [[1, 0]]], [[1.0], [2.0]], gamma=0.9)
    >>> average_reward(to_and_fro).gain
    1.5
    """
    m = model_of(mdp_of(problem, "average_reward"), gamma=1.0)
    if not m.shiftable:
        raise InvalidArgument("average_reward", "problem", "one without terminal states", "one that ends")
    v, q, *_ = policy_iteration(m._replace(gamma=NEARLY_ONE), None, 1e-9)
    pi = greedy(q)
    h = v - v[-1]
    iterations = 0
    while iterations < POLICIES:
        iterations += 1
        better = bias(m, pi)
        h = h if better is None else better
        low, high = backup(m, h, q)
        if better is None or improve(q, pi, 4.0 * rounding_error(m, h)) == 0:
            break
    gain, error = 0.5 * (low + high), 0.5 * (high - low) + rounding_error(m, h)
    if error > 1e-3 * (1.0 + float(np.abs(m.r).max())):
        expected = "one whose best gain is the same from every state"
        raise InvalidArgument("average_reward", "problem", expected, f"gains from {low:.4g} to {high:.4g}")
    policy = TabularPolicy.unchecked(first_best(q, error), q.shape[1])
    return AverageReward(gain, h, policy, error, iterations)


def bias(m: Model, pi: Indices) -> Floats | None:
    """h of a policy, from (I - P) h + g = R with h = 0 in the last state, whose column holds g; None if singular."""
    S, A = m.r.shape
    r = m.r[np.arange(S), pi]
    try:
        if len(m.matrix):
            system = np.eye(S) - m.matrix[np.arange(S) * A + pi]
            system[:, -1] = 1.0
            h = np.linalg.solve(system, r)
        else:
            from scipy.sparse.linalg import splu

            ends, columns, entries = policy_rows(m, pi)
            rows = sparse.csr_array((entries, columns, ends), shape=(S, S))
            h = splu(sparse.hstack([rows[:, :-1], np.ones((S, 1))], format="csc")).solve(r)
    except (np.linalg.LinAlgError, RuntimeError):
        return None
    h[-1] = 0.0
    low, high = policy_backup(m, pi, h, np.empty(S))
    return h if high - low <= 1e-6 * (1.0 + float(np.abs(r).max())) else None
