"""How much drawn policies lose under listed rewards: the second model of multi-task BIRL."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from bayesrl.beliefs.rewards.linear_rewards import DENSE, LinearRewards
from bayesrl.beliefs.rewards.reward_priors import FinitePrior
from bayesrl.checks import Floats
from bayesrl.errors import InvalidArgument


def log_sums(
    rewards: LinearRewards, listed: FinitePrior, taken: Floats, alpha: float, rate: float, draws: int, rng: Generator
) -> Floats:
    """log sum over drawn policies of exp(-rate loss(policy, w)), for each task and listed reward, (M + 1, n).

    The policies of task m have Dirichlet rows with counts alpha + taken[m]; those of the last row have counts alpha.
    """
    S, A = rewards.mdp.group.shape
    if S > DENSE:
        raise InvalidArgument("MultitaskBIRL", "problem", f'one with at most {DENSE} states for model="policy"', S)
    best = np.array([rewards.solve(w).values for w in listed.weights])
    counts = alpha + np.concatenate([taken, np.zeros((1, S * A))]).reshape(-1, S, A)
    found = np.full((len(counts), len(best)), -np.inf)
    for _ in range(draws):
        rows = rng.standard_gamma(counts)
        policies = rows / rows.sum(axis=2, keepdims=True)
        for m, policy in enumerate(policies):
            found[m] = np.logaddexp(found[m], -rate * losses(rewards, listed, best, policy))
    return found


def losses(rewards: LinearRewards, listed: FinitePrior, best: Floats, policy: Floats) -> Floats:
    """max_s V*(s) - V(s) of a policy (S, A) under each listed reward, (n,); `best` is V*, (n, S)."""
    S, A = policy.shape
    P = (policy[:, :, None] * np.asarray(rewards.P).reshape(S, A, S)).sum(axis=1)
    F = (policy[:, :, None] * rewards.features).sum(axis=1)
    V = np.linalg.solve(np.eye(S) - rewards.mdp.gamma * P, F) @ listed.weights.T
    return np.maximum((best.T - V).max(axis=0), 0.0)
