"""Exact posterior draws of a policy's value.

Each draw is the value V of the policy in one model of the belief: (I - gamma P) V = R. A belief that draws many models
at once (`SamplesProbabilities`) gives probabilities (n, G, K). Compiled code fills the system of each draw from the
list of outcomes that the policy uses, and eliminates in place. The matrix is diagonally dominant, so that no pivoting
is needed, and zeros are skipped. Any other belief draws its models one by one.

The draws do not depend on the policy: equal generators give values of two policies in the same models.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from bayesrl.capabilities import SamplesMDPs, SamplesProbabilities, offers
from bayesrl.checks import Floats, generator, integer
from bayesrl.core import Policy
from bayesrl.kernels.arrays import F1, F2, I1
from bayesrl.kernels.jit import any_order
from bayesrl.models.outcomes import Outcomes
from bayesrl.models.policy import policy_matrix
from bayesrl.risk._models import require_belief, require_discount

CELLS = 1_000_000
"""The largest number of probabilities that are drawn at once, which bounds memory."""


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
    owner = "value_samples"
    require_belief(owner, belief, SamplesMDPs)
    require_discount(owner, belief.gamma)
    mu = policy_matrix(owner, policy, belief.n_states, belief.n_actions)
    n, rng = integer(owner, "samples", samples, 1), generator(owner, rng)
    V = np.zeros((n, belief.n_states))
    if offers(belief, SamplesProbabilities):
        used, step = outcomes_of(belief.outcomes, mu), most_at_once(belief.outcomes.valid.size)
        for i in range(0, n, step):
            prob = belief.sample_probabilities(min(step, n - i), rng)
            solve_all(prob.reshape(len(prob), -1), used, belief.gamma, V[i : i + step])
        return V
    S = belief.n_states
    dense, step = dense_rows(S), most_at_once(S * S)
    for i in range(0, n, step):
        P = np.empty((min(step, n - i), S * S))
        for row, v in zip(P, V[i : i + step], strict=True):
            model = belief.sample_mdp(rng)
            w = mu * ~model.outcomes.terminal[:, None]
            row[:] = np.einsum("sa,say->sy", w, model.matrix.reshape(S, -1, S)).ravel()
            v[:] = (w * model.mean_reward).sum(axis=1)
        solve_all(P, dense, belief.gamma, V[i : i + step])
    return V


def most_at_once(cells: int) -> int:
    """How many models with this number of probabilities are drawn at once."""
    return max(1, CELLS // cells)


def outcomes_of(o: Outcomes, mu: Floats) -> Used:
    """The outcomes that policy mu (S, A) can meet. Terminal states have none."""
    K = o.n_outcomes
    s, a, k = np.nonzero(((mu > 0.0) & ~o.terminal[:, None])[:, :, None] & o.valid[o.group])
    end = np.searchsorted(s, np.arange(o.n_states + 1))
    return Used(
        end, o.group[s, a].astype(np.int64) * K + k, o.succ[s, a, k].astype(np.int64), mu[s, a], o.reward[s, a, k]
    )


def dense_rows(S: int) -> Used:
    """Lists for models that are given by the policy's matrix (S, S). Their rewards are given apart."""
    ones, cells = np.ones(S * S), np.arange(S * S)
    return Used(np.arange(S + 1) * S, cells, cells % S, ones, 0.0 * ones)


@any_order
def solve_all(prob: F2, used: Used, gamma: float, V: F2) -> None:
    """V[i] <- the solution of v = r + gamma P v in model i, prob[i], where r is V[i] plus the rewards of outcomes."""
    end, cell, succ, weight, reward = used
    S = V.shape[1]
    M = np.empty((S, S))  # I - gamma P
    for i in range(len(V)):
        v, p = V[i], prob[i]
        M[:] = 0.0
        for s in range(S):
            M[s, s] = 1.0
            r = v[s]
            for e in range(end[s], end[s + 1]):
                x = weight[e] * p[cell[e]]
                M[s, succ[e]] -= gamma * x
                r += x * reward[e]
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
