"""Beam sampling of a hierarchical Dirichlet process (Van Gael and others 2008), which two beliefs share.

States are drawn from beta ~ GEM(stick). A sequence begins with x_0 ~ beta, and goes on by x' ~ T(.|x, m). Here m is the
input of the step, and each row T(.|x, m) ~ DP(row, beta). A step may show an observation of the state *before* it and
one of the state *after* it, both with Dirichlet rows. `infinite-pomdp` and `policy-prior` say what observations and
inputs are.

An array of K states has an entry more, the last: all states that have not been used, the *rest*. A step is a row
(m, row of the first observation, first observation, and the same of the second) of `steps` (T, 5). The entries of x
stand one sequence after the other; a sequence of L steps has L + 1 of them.
"""

from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from bayesrl.kernels.arrays import F1, F3, I1, I2
from bayesrl.kernels.jit import njit

MOST = 300
"""The largest number of states of a sweep."""


class Sizes(NamedTuple):
    """The numbers of inputs, and of rows and observations before and after a step."""

    M: int
    G: int
    V: int
    H: int
    Z: int


class Rates(NamedTuple):
    """The parameters of the prior."""

    row: float
    stick: float
    concentration: float


class Model(NamedTuple):
    """A model of K states and the rest, whose rows are means of the prior given beta."""

    beta: F1
    """(K+1,)."""
    moves: F3
    """T(y|x, m), (K+1, M, K+1)."""
    before: F3
    """Signs of the state before a step, (K+1, G, V)."""
    after: F3
    """Signs of the state after a step, (K+1, H, Z)."""


@njit
def sweep(
    x: I1, beta: F1, steps: I2, length: I1, sizes: Sizes, prior: Rates, sweeps: int, most: int, rng: Generator
) -> tuple[I1, Model]:
    """States and a model after `sweeps` sweeps, from states x (N,) and beta (K+1,).

    If a sweep needs more than `most` states, it stops with a model of that many.
    """
    x, beta = renumbered(x, beta, prior.stick, rng)
    model = parameters(x, beta, steps, length, sizes, prior, rng)
    for _ in range(sweeps):
        u = slices(x, model, steps, length, rng)
        model = extended(model, u, steps, length, prior, most, rng)
        if len(model.beta) > most:
            return x, model
        x = paths(model, u, steps, length, rng)
        x, beta = renumbered(x, model.beta, prior.stick, rng)
        model = parameters(x, beta, steps, length, sizes, prior, rng)
    return x, model


@njit
def renumbered(x: I1, beta: F1, stick: float, rng: Generator) -> tuple[I1, F1]:
    """Drop empty states, and number the others as they appear. A state in the rest becomes one of its own."""
    K = len(beta) - 1
    new = np.full(K + 1, -1)
    kept = np.zeros(K + 2)
    y = np.empty(len(x), np.int64)
    k = 0
    left = 1.0
    for i in range(len(x)):
        if new[x[i]] < 0:
            new[x[i]] = k
            kept[k] = beta[x[i]] if x[i] < K else beta[K] * piece(stick, rng)
            left -= kept[k]
            k += 1
        y[i] = new[x[i]]
    kept[k] = max(left, 0.0)
    return y, kept[: k + 1].copy()


@njit
def parameters(x: I1, beta: F1, steps: I2, length: I1, sizes: Sizes, prior: Rates, rng: Generator) -> Model:
    """Draw beta and all rows, given the states."""
    K = len(beta) - 1
    n = np.zeros((K + 1, sizes.M, K + 1))
    before = np.full((K + 1, sizes.G, sizes.V), prior.concentration)
    after = np.full((K + 1, sizes.H, sizes.Z), prior.concentration)
    m = np.zeros(K + 1)
    m[K] = prior.stick
    i = t = 0
    for q in range(len(length)):
        m[x[i]] += 1.0  # x_0 is a table of its own
        for _ in range(length[q]):
            n[x[i], steps[t, 0], x[i + 1]] += 1.0
            before[x[i], steps[t, 1], steps[t, 2]] += 1.0
            after[x[i + 1], steps[t, 3], steps[t, 4]] += 1.0
            i, t = i + 1, t + 1
        i += 1
    for j in range(K):
        for a in range(sizes.M):
            for k in range(K):
                m[k] += tables(n[j, a, k], prior.row * beta[k], rng)
    beta = dirichlet(m, rng)
    for j in range(K):
        for a in range(sizes.M):
            n[j, a] = dirichlet(prior.row * beta + n[j, a], rng)
        for g in range(sizes.G):
            before[j, g] = dirichlet(before[j, g], rng)
        for h in range(sizes.H):
            after[j, h] = dirichlet(after[j, h], rng)
    n[K], before[K], after[K] = beta, 1.0 / sizes.V, 1.0 / sizes.Z  # the rest
    return Model(beta, n, before, after)


@njit
def tables(n: float, c: float, rng: Generator) -> int:
    """The number of tables of n customers in a Chinese restaurant of concentration c."""
    m = 0
    for i in range(int(n)):
        m += rng.random() * (c + i) < c or i == 0
    return m


@njit
def piece(stick: float, rng: Generator) -> float:
    """The piece that is broken off the rest: Beta(1, stick)."""
    return -np.expm1(np.log1p(-rng.random()) / stick)


@njit
def dirichlet(alpha: F1, rng: Generator) -> F1:
    """A draw. Counts so small that all variates are zero give a corner, which is the limit."""
    p = np.empty(len(alpha))
    for k in range(len(alpha)):
        p[k] = rng.standard_gamma(alpha[k])
    if p.sum() == 0.0:
        p[chosen(alpha, rng)] = 1.0
    return p / p.sum()


@njit
def chosen(w: F1, rng: Generator) -> int:
    """An index drawn in proportion to the weights."""
    left = rng.random() * w.sum()
    last = 0
    for k in range(len(w)):
        if w[k] > 0.0:
            last = k
            left -= w[k]
            if left < 0.0:
                break
    return last


@njit
def slices(x: I1, model: Model, steps: I2, length: I1, rng: Generator) -> F1:
    """u (N,), uniform on (0, beta(x_0)] at the start of a sequence, and on (0, T(x_{t+1}|x_t, m_t)] after a step."""
    u = np.empty(len(x))
    i = t = 0
    for q in range(len(length)):
        u[i] = (1.0 - rng.random()) * model.beta[x[i]]
        for _ in range(length[q]):
            u[i + 1] = (1.0 - rng.random()) * model.moves[x[i], steps[t, 0], x[i + 1]]
            i, t = i + 1, t + 1
        i += 1
    return u


@njit
def extended(model: Model, u: F1, steps: I2, length: I1, prior: Rates, most: int, rng: Generator) -> Model:
    """Break states off the rest, until no state in it can be in a path: until every rest is below the least u."""
    M = model.moves.shape[1]
    low = np.full(M, 2.0)  # least u after each input
    first = 2.0  # least u of a start
    i = t = 0
    for q in range(len(length)):
        first = min(first, u[i])
        for _ in range(length[q]):
            low[steps[t, 0]] = min(low[steps[t, 0]], u[i + 1])
            i, t = i + 1, t + 1
        i += 1
    while len(model.beta) <= most:
        K = len(model.beta) - 1
        if model.beta[K] < first and not longer(model.moves, low):
            break
        model = broken(model, prior, rng)
    return model


@njit
def longer(moves: F3, low: F1) -> bool:
    """Whether the rest of some row is not below the least u of its input."""
    K = len(moves) - 1
    for j in range(K):
        for a in range(len(low)):
            if moves[j, a, K] >= low[a]:
                return True
    return False


@njit
def broken(model: Model, prior: Rates, rng: Generator) -> Model:
    """The model with one state more, broken off the rest of beta and of each row. Its own rows are the prior's."""
    K, M = len(model.beta) - 1, model.moves.shape[1]
    G, V = model.before.shape[1:]
    H, Z = model.after.shape[1:]
    beta = np.empty(K + 2)
    beta[: K + 1] = model.beta
    v = piece(prior.stick, rng)
    beta[K], beta[K + 1] = model.beta[K] * v, model.beta[K] * (1.0 - v)
    moves, before, after = np.empty((K + 2, M, K + 2)), np.empty((K + 2, G, V)), np.empty((K + 2, H, Z))
    for j in range(K):
        for a in range(M):
            v = dirichlet(prior.row * beta[K:], rng)[0]
            moves[j, a, :K] = model.moves[j, a, :K]
            moves[j, a, K], moves[j, a, K + 1] = model.moves[j, a, K] * v, model.moves[j, a, K] * (1.0 - v)
    for a in range(M):
        moves[K, a], moves[K + 1, a] = dirichlet(prior.row * beta, rng), beta
    before[:K], after[:K], before[K + 1], after[K + 1] = model.before[:K], model.after[:K], 1.0 / V, 1.0 / Z
    for g in range(G):
        before[K, g] = dirichlet(np.full(V, prior.concentration), rng)
    for h in range(H):
        after[K, h] = dirichlet(np.full(Z, prior.concentration), rng)
    return Model(beta, moves, before, after)


@njit
def paths(model: Model, u: F1, steps: I2, length: I1, rng: Generator) -> I1:
    """Draw all sequences of states, given the model and u: forward sums, and draws backwards."""
    K = len(model.beta) - 1
    x = np.empty(len(u), np.int64)
    p = np.zeros((length.max() + 1, K))
    i = t = 0
    for q in range(len(length)):
        L = length[q]
        for l in range(L + 1):
            for k in range(K):
                p[l, k] = 0.0
                if l == 0:
                    p[l, k] = 1.0 if model.beta[k] >= u[i] else 0.0
                else:
                    a = steps[t + l - 1, 0]
                    for j in range(K):
                        if model.moves[j, a, k] >= u[i + l]:
                            p[l, k] += p[l - 1, j]
                    p[l, k] *= model.after[k, steps[t + l - 1, 3], steps[t + l - 1, 4]]
                if l < L:
                    p[l, k] *= model.before[k, steps[t + l, 1], steps[t + l, 2]]
            p[l] /= p[l].sum()
        for l in range(L, -1, -1):
            if l < L:
                for k in range(K):
                    if not model.moves[k, steps[t + l, 0], x[i + l + 1]] >= u[i + l + 1]:
                        p[l, k] = 0.0
            x[i + l] = chosen(p[l], rng)
        i, t = i + L + 1, t + L
    return x
