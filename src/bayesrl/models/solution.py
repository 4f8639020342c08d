"""What it means to have solved a known MDP, and what every exact solver shares.

A problem is a `TabularMDP`, or anything that carries one as `.mdp` (a world). A solution says how far its values may be
from the optimal ones, and that number is a proof, not an estimate: see `certify`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from bayesrl.checks import ROW_SUM_TOLERANCE, Floats, Ints, array, indices, rows_sum_to_one
from bayesrl.errors import InvalidArgument
from bayesrl.models.mdp import TabularMDP


class Solution(NamedTuple):
    """The optimal values of a known MDP, as far as they are known."""

    values: Floats
    """V(s), shape (S,)."""
    q: Floats
    """R(s, a) + gamma sum_s' P(s'|s, a) V(s') for these values, shape (S, A)."""
    policy: Ints
    """The first action whose q is maximal within the error, shape (S,)."""
    error_bound: float
    """max |values - V*| is at most this."""
    iterations: int
    method: str


def table_of(problem: Any, owner: str = "solve") -> TabularMDP:
    """The MDP of a problem: itself, or a world's `.mdp`."""
    if isinstance(problem, TabularMDP):
        return problem
    mdp = getattr(problem, "mdp", None)
    if isinstance(mdp, TabularMDP):
        return mdp
    hint = "A family of worlds has no table of its own: draw a world from it first." if hasattr(problem, "draw") else ""
    raise InvalidArgument(owner, "problem", "a TabularMDP or a world with one", type(problem).__name__, hint)


def evaluate_policy(problem: Any, policy: ArrayLike) -> Floats:
    """The values of a stationary policy: (S,) actions or (S, A) probabilities."""
    mdp = table_of(problem, "evaluate_policy")
    S, A = mdp.group.shape
    live = ~mdp.outcomes.terminal
    weight = policy_matrix("evaluate_policy", policy, S, A)
    P = np.einsum("sa,say->sy", weight, mdp.matrix.reshape(S, A, S))
    r = np.einsum("sa,sa->s", weight, mdp.mean_reward)
    values = np.zeros(S)
    system = (np.eye(S) - mdp.gamma * P)[np.ix_(live, live)]
    try:
        values[live] = np.linalg.solve(system, r[live])
    except np.linalg.LinAlgError:
        raise InvalidArgument(
            "evaluate_policy", "policy", "one that ends its episodes, as the discount is 1", policy
        ) from None
    return values


def policy_matrix(owner: str, policy: ArrayLike, S: int, A: int) -> Floats:
    """A policy as probabilities of actions, shape (S, A)."""
    if np.ndim(policy) == 1:
        return np.eye(A)[indices(owner, "policy", policy, (S,), A)]
    weight = array(owner, "policy", policy, (S, A), low=0.0)
    rows_sum_to_one(owner, "policy", weight)
    return weight


def certify(mdp: TabularMDP, values: Floats, q: Floats, reward: Floats) -> float:
    """A bound on max |values - V*| from the Bellman residual, rounding included.

    T is a contraction by beta = gamma times the largest row sum, so |V - V*| <= |TV - V| / (1 - beta).
    """
    K = mdp.outcomes.n_outcomes
    beta = mdp.gamma * (1.0 + ROW_SUM_TOLERANCE)
    unit = 2.0**-53
    rounding = unit * (K + 8) * (np.abs(reward).max() + mdp.gamma * np.abs(values).max())
    return float((np.abs(q.max(axis=1) - values).max() + rounding) / (1.0 - beta)) if beta < 1.0 else np.inf
