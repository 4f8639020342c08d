"""Many MDPs of one shape at once: what samplers of models need."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bayesrl.checks import Floats, array, number
from bayesrl.models.mdp import Outcomes


def solve_many(
    outcomes: Outcomes,
    prob: ArrayLike,
    gamma: float,
    *,
    tol: float = 1e-9,
    rewards: ArrayLike | None = None,
    initial: ArrayLike | None = None,
) -> tuple[Floats, Floats]:
    """Optimal values (n, S) and action values (n, S, A) of n models with probabilities prob[n, G, K]."""
    S, A, K = outcomes.succ.shape
    prob = array("solve_many", "prob", prob, (None, outcomes.n_groups, K), low=0.0)
    n = len(prob)
    gamma = number("solve_many", "gamma", gamma, 0.0, 1.0, below=True)
    P = prob[:, outcomes.group]  # (n, S, A, K)
    if rewards is None:
        R = np.einsum("nsak,sak->nsa", P, outcomes.reward)
    else:
        R = array("solve_many", "rewards", rewards, (n, S, A))
    R = np.where(outcomes.terminal[:, None], 0.0, R)
    V = np.zeros((n, S)) if initial is None else array("solve_many", "initial", initial, (n, S)).copy()
    V[:, outcomes.terminal] = 0.0
    while True:
        Q = R + gamma * np.einsum("nsak,nsak->nsa", P, V[:, outcomes.succ])
        new = Q.max(axis=2)
        if np.abs(new - V).max() <= tol * (1.0 - gamma):
            return V, Q
        V = new
