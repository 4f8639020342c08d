"""Exact posterior draws of a policy's value.

Each draw is the value V of the policy in one model of the belief: (I - gamma P) V = R. If the rows are Dirichlet, one
compiled call draws all models and solves them. Any other belief draws its models one by one, and one compiled call
solves them. The matrix is diagonally dominant, so that elimination needs no pivoting. It skips
zeros.

The draws do not depend on the policy: equal generators give the values of two policies in the same models.

A row of a Dirichlet is gamma variates over their sum. A gamma variate of shape a >= 1 is d v with v = (1 + c x)^3, x
normal, d = a - 1/3 and c = (9 d)^(-1/2), accepted with probability exp(x^2 / 2 + d - d v + d log v) (Marsaglia, Tsang
2000). All cells of a model are proposed at once, with a bound that needs no logarithm; the few that the bound does not
accept are tested or drawn again. Gamma(a), a < 1, has the law of Gamma(a + 1) U^(1/a); rows with such counts are
computed by their logarithms, since tiny counts underflow.
With discount 1 the policy must end in every drawn model with probability one, from every state. It is refused with the
state otherwise. The values are finite then, but their mean over the posterior need not be.
"""

from __future__ import annotations

import math
from copy import deepcopy
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from bayesrl.capabilities import HasDirichletRows, KnowsRewards, SamplesMDPs, offers
from bayesrl.checks import Floats, generator, integer
from bayesrl.core import Policy
from bayesrl.kernels.arrays import B1, F1, F2, I1
from bayesrl.kernels.jit import inlined, njit
from bayesrl.kernels.random.stream import stream, uniform
from bayesrl.models.mdp import TabularMDP
from bayesrl.models.outcomes import Outcomes
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


# Rows drawn from Dirichlet distributions ------------------------------------------------------------------------------


class UnknownRows(NamedTuple):
    """The cells of unknown rows, row by row; a cell is an outcome of a group."""

    d: F1
    c: F1
    power: F1
    """1 / a if the count a is below 1, else 0."""
    at: I1
    """The place of a cell in the table of a model: g K + k."""
    end: I1
    """Where each row ends, (rows + 1,), from 0."""
    low: B1
    """Whether a row has counts below 1, (rows,)."""


def dirichlet_values(belief: HasDirichletRows, mu: Floats, n: int, rng: Generator) -> Floats:
    """Values of policy mu (S, A) in n drawn models, (n, S)."""
    total = belief.alpha.sum(axis=1, keepdims=True)
    table, V = (belief.alpha / total).ravel(), np.zeros((n, belief.n_states))  # known rows keep their probabilities
    draw_and_solve(table, unknown_rows(belief), outcomes_of(belief.outcomes, mu), belief.gamma, V, rng)
    return V


def unknown_rows(belief: HasDirichletRows) -> UnknownRows:
    """The cells of rows that have to be drawn: not known, and with more than one outcome."""
    o = belief.outcomes
    rows = np.flatnonzero(~belief.known & (o.size > 1))
    g, k = np.nonzero(o.valid[rows])
    a = belief.alpha[rows[g], k]
    d = np.where(a < 1.0, a + 1.0, a) - 1.0 / 3.0
    power, end = np.where(a < 1.0, 1.0 / a, 0.0), np.concatenate([[0], np.cumsum(o.size[rows], dtype=np.int64)])
    return UnknownRows(
        d,
        1.0 / np.sqrt(9.0 * d),
        power,
        (rows[g] * o.n_outcomes + k).astype(np.uint32),
        end,
        np.maximum.reduceat(power, end[:-1]) > 0.0,
    )


def outcomes_of(o: Outcomes, mu: Floats) -> Used:
    """The outcomes that policy mu (S, A) can meet. Terminal states have none."""
    s, a, k = np.nonzero(((mu > 0.0) & ~o.terminal[:, None])[:, :, None] & o.valid[o.group])
    end, cell = np.searchsorted(s, np.arange(o.n_states + 1)), (o.group[s, a] * o.n_outcomes + k)
    return Used(end, cell.astype(np.uint32), o.succ[s, a, k].astype(np.uint32), mu[s, a], o.reward[s, a, k])


@njit
def draw_and_solve(table: F1, rows: UnknownRows, used: Used, gamma: float, V: F2, rng: Generator) -> None:
    """V[i] <- the values of the policy in a drawn model, for each i."""
    uniforms, S = stream(rng), V.shape[1]
    M, x, u, y = np.empty((S, S)), np.empty(len(rows.d)), np.empty(len(rows.d)), np.empty(len(rows.d))
    for i in range(len(V)):
        draw(table, rows, x, u, y, rng, uniforms)
        solve(table, used, gamma, V[i], M)


@inlined
def draw(table: F1, rows: UnknownRows, x: F1, u: F1, y: F1, rng: Generator, uniforms: Generator) -> None:
    """Draw all unknown rows into the table; x, u and y are scratch."""
    d, c, power, at, end, low = rows
    for j in range(len(d)):
        x[j] = rng.standard_normal()
    for j in range(len(d)):
        u[j] = 1.0 - uniform(uniforms)
    for j in range(len(d)):  # vectorised
        v, square = 1.0 + c[j] * x[j], x[j] * x[j]
        y[j] = d[j] * v * v * v if (v > 0.0) & (u[j] < 1.0 - 0.0331 * square * square) else 0.0
    for j in range(len(d)):
        if y[j] == 0.0:
            y[j] = gamma_variate(d[j], c[j], x[j], u[j], rng, uniforms)
    for g in range(len(low)):
        if low[g]:
            boost(y[end[g] : end[g + 1]], power[end[g] : end[g + 1]], uniforms)
        total = 0.0
        for j in range(end[g], end[g + 1]):
            total += y[j]
        share = 1.0 / total
        for j in range(end[g], end[g + 1]):
            table[at[j]] = share * y[j]


@njit
def gamma_variate(d: float, c: float, x: float, u: float, rng: Generator, uniforms: Generator) -> float:
    """The first accepted variate, from the proposal (x, u) on."""
    while True:
        v = (1.0 + c * x) ** 3
        if v > 0.0 and math.log(u) < 0.5 * x * x + d * (1.0 - v + math.log(v)):
            return d * v
        x, u = rng.standard_normal(), 1.0 - uniform(uniforms)


@njit
def boost(y: F1, power: F1, uniforms: Generator) -> None:
    """y <- y U^power, scaled by the largest of the row, through logarithms."""
    most = -np.inf
    for j in range(len(y)):
        y[j] = math.log(y[j]) + power[j] * math.log(1.0 - uniform(uniforms))
        most = max(most, y[j])
    for j in range(len(y)):
        y[j] = math.exp(y[j] - most)
