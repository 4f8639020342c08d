"""Exact posterior draws of a policy's value.

Each draw is the value V of the policy in one model of the belief: (I - gamma P) V = R. If the rows are Dirichlet, one
compiled call draws all models and solves them (`_dirichlet_values.py`). Any other belief draws its models one by one,
and one compiled call solves them. The matrix is diagonally dominant, so that elimination needs no pivoting. It skips
zeros.

The draws do not depend on the policy: equal generators give the values of two policies in the same models.

With discount 1 the policy must end in every drawn model with probability one, from every state. It is refused with the
state otherwise. The values are finite then, but their mean over the posterior need not be.
"""

from __future__ import annotations

from copy import deepcopy
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from bayesrl.capabilities import HasDirichletRows, KnowsRewards, SamplesMDPs, offers
from bayesrl.checks import Floats, generator, integer
from bayesrl.core import Policy
from bayesrl.kernels.arrays import F1, F2, I1
from bayesrl.kernels.jit import inlined, njit
from bayesrl.models.mdp import TabularMDP
from bayesrl.models.policy import policy_matrix
from bayesrl.models.solvers.proper import ENDS, endless_state_under, refuse_endless
from bayesrl.risk.models import require_belief

CELLS = 1_000_000
"""The largest number of probabilities of models that are drawn one by one before they are solved, to bound memory."""


class Used(NamedTuple):
    """The outcomes that a policy can meet, ordered by state."""

    end: I1
    """Where the list of each state ends, (S + 1,), from 0."""
    cell: I1
    """The place of an outcome's probability in a model's table."""
    succ: I1
    """Its next state."""
    weight: F1
    """The probability of its action."""
    reward: F1


def value_samples(belief: SamplesMDPs, policy: Policy | ArrayLike, samples: int, rng: Generator) -> Floats:
    """Values of a policy in models drawn from a belief, (samples, S).

    >>> import bayesrl as b
    >>> world = b.make_world("machine-replacement")
    >>> belief = b.DirichletMDP.structured(world)
    >>> value_samples(belief, np.zeros(10, int), samples=1000, rng=np.random.default_rng(0)).shape
    (1000, 10)
    """
    from bayesrl.risk._dirichlet_values import dirichlet_values  # compiled with `solve` below

    owner = "value_samples"
    require_belief(owner, belief, SamplesMDPs)
    mu = policy_matrix(owner, policy, belief.n_states, belief.n_actions)
    n, rng = integer(owner, "samples", samples, 1), generator(owner, rng)
    if offers(belief, HasDirichletRows) and offers(belief, KnowsRewards) and belief.rewards_known:
        must_end(owner, belief.sample_mdp(deepcopy(rng)), mu)  # all models have the same support
        return sure_of_ends(owner, belief.gamma, dirichlet_values(belief, mu, n, rng))
    V, S = np.empty((n, belief.n_states)), belief.n_states
    step = max(1, CELLS // S**2)
    for i in range(0, n, step):
        P = np.empty((min(step, n - i), S * S))
        for row, v in zip(P, V[i : i + step], strict=True):
            model = belief.sample_mdp(rng)
            must_end(owner, model, mu)
            w = mu * ~model.outcomes.terminal[:, None]
            row[:] = np.einsum("sa,say->sy", w, model.matrix.reshape(S, -1, S)).ravel()
            v[:] = (w * model.mean_reward).sum(axis=1)
        solve_all(P, all_cells(S), belief.gamma, V[i : i + step])
    return sure_of_ends(owner, belief.gamma, V)


def must_end(owner: str, model: TabularMDP, mu: Floats) -> None:
    """Refuse a policy (S, A) that need not end in a model with discount 1."""
    if model.gamma == 1.0:
        refuse_endless(owner, "policy", endless_state_under(model, mu), ENDS)


def sure_of_ends(owner: str, gamma: float, V: Floats) -> Floats:
    """Values (n, S); with discount 1 an end that rounding has lost is refused."""
    if gamma == 1.0 and not np.isfinite(V).all():
        refuse_endless(owner, "policy", int((~np.isfinite(V)).any(axis=0).argmax()), ENDS, "An end is too rare.")
    return V


def all_cells(S: int) -> Used:
    """Lists for models that are given by the policy's matrix (S, S). Their rewards are given apart."""
    ones, cells = np.ones(S * S), np.arange(S * S, dtype=np.uint32)
    return Used(np.arange(S + 1) * S, cells, (cells % S).astype(np.uint32), ones, 0.0 * ones)


@njit
def solve_all(tables: F2, used: Used, gamma: float, V: F2) -> None:
    """V[i] <- the solution of v = r + gamma P v in the model with table i; before, V[i] holds its rewards."""
    M = np.empty((V.shape[1], V.shape[1]))
    for i in range(len(V)):
        solve(tables[i], used, gamma, V[i], M)


@inlined
def solve(table: F1, used: Used, gamma: float, v: F1, M: F2) -> None:
    """v <- the solution of v = r + gamma P v, where r is v plus the rewards of outcomes, by elimination in M (S, S)."""
    end, cell, succ, weight, reward = used
    S = len(v)
    for s in range(S):
        for y in range(S):
            M[s, y] = 0.0
        M[s, s] = 1.0
        r = v[s]
        for e in range(end[s], end[s + 1]):
            p = weight[e] * table[cell[e]]
            M[s, succ[e]] -= gamma * p
            r += p * reward[e]
        v[s] = r
    for j in range(S):
        for s in range(j + 1, S):
            if M[s, j] != 0.0:
                f = M[s, j] / M[j, j]
                for y in range(j + 1, S):
                    M[s, y] -= f * M[j, y]
                v[s] -= f * v[j]
    for j in range(S - 1, -1, -1):
        x = v[j]
        for y in range(j + 1, S):
            x -= M[j, y] * v[y]
        v[j] = x / M[j, j]
