"""Solve a known MDP: the one door to every exact solver."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bayesrl.checks import Floats, array, number
from bayesrl.errors import NotConverged
from bayesrl.models.finite_horizon import finite_horizon, optimal_total, policy_total
from bayesrl.models.many import solve_many
from bayesrl.models.solution import Solution, certify, evaluate_policy, table_of

__all__ = ["Solution", "evaluate_policy", "finite_horizon", "optimal_total", "policy_total", "solve", "solve_many"]


def solve(
    problem: Any,
    tol: float = 1e-9,
    *,
    initial: ArrayLike | None = None,
    bonus: ArrayLike | None = None,
    method: str = "auto",
) -> Solution:
    """The optimal values, action values and policy of a known MDP, within `tol`.

    `initial` are values to start from; `bonus` (S, A) is added to the expected reward.
    """
    mdp = table_of(problem)
    S, A = mdp.group.shape
    number("solve", "tol", tol, 0.0, above=True)
    R = mdp.mean_reward if bonus is None else mdp.mean_reward + array("solve", "bonus", bonus, (S, A))
    V = np.zeros(S) if initial is None else array("solve", "initial", initial, (S,)).copy()
    live = ~mdp.outcomes.terminal
    R = np.where(live[:, None], R, 0.0)
    V[~live] = 0.0
    P = mdp.matrix

    def q_of(V: Floats) -> Floats:
        return R + mdp.gamma * (P @ V).reshape(S, A)

    q = q_of(V)
    policy = q.argmax(axis=1)
    at = np.arange(S)
    for iteration in range(1, 1000):
        rows = np.eye(S) - mdp.gamma * P.reshape(S, A, S)[at, policy]
        V = np.zeros(S)
        V[live] = np.linalg.solve(rows[np.ix_(live, live)], R[at, policy][live])
        q = q_of(V)
        slack = 1e-12 * (1.0 + np.abs(q).max())
        better = q.max(axis=1) > q[at, policy] + slack
        if not better.any():
            break
        policy = np.where(better, q.argmax(axis=1), policy)
    bound = certify(mdp, V, q, R)
    first = (q >= q.max(axis=1, keepdims=True) - min(2 * bound, 1e-9 * (1.0 + np.abs(q).max()))).argmax(axis=1)
    solution = Solution(V, q, first.astype(np.int32), bound, iteration, "policy-iteration")
    if bound > tol and mdp.gamma < 1.0:
        raise NotConverged("solve", solution, bound, f"{iteration} policies")
    return solution
