"""Simulate a belief over graphs: draw each set of parents at its first use, then draw from the urns of its settings.

The posterior factorises over actions and variables. A simulation therefore draws the parents of variable i under action
a when it first needs them, and keeps them. Given the parents, the values of a variable follow a Polya urn for each
setting of the parents, filled by the data and by this simulation. So this is root sampling.

Replayed steps (`kernels/simulators/reversible_step.py`) are the first of the list of steps. They weigh sets of parents
by what they predicted.
"""

import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from bayesrl.beliefs.dynamics._families import agree, prior_count
from bayesrl.beliefs.mdp.dirichlet_rows import dirichlet_rows
from bayesrl.checks import Floats, Ints, frozen, integer
from bayesrl.errors import InvalidArgument
from bayesrl.kernels.arrays import F1, F2, F3, I1, I2, I3
from bayesrl.kernels.jit import njit
from bayesrl.kernels.random.stream import uniform
from bayesrl.kernels.simulators.reversible_step import likelihood, replay, undo
from bayesrl.kernels.simulators.simulator import begin, forget, implements, rollout_action, step
from bayesrl.kernels.simulators.urn import greedy_rollout
from bayesrl.models.outcomes import Outcomes

Log = tuple[Ints, Ints, Ints]
"""Values before each step (T, V), its action (T,), values after it (T, V)."""
STEPS, REPLAYED = 0, 1
"""Entries of `GraphUrn.now`."""


class GraphUrn(NamedTuple):
    """Weighted sets of parents, the data, and the steps since the root."""

    sizes: I1  # (V,) number of values of each variable
    reward: F2  # (S, A)
    prior: F1  # (2,) concentration and equivalent
    masks: I3  # (A, V, N) sets of parents
    weights: F3  # (A, V, N) their probabilities
    x: I2  # (T, V) values before each step of the data, sorted by action
    y: I2  # (T, V) values after it
    first: I1  # (A + 1,) where the steps of each action begin
    path: I3  # (D + 1, 2, V) values before and after each step since the root
    actions: I1  # (D + 1,) its action
    drawn: I2  # (A, V) set of parents of the running simulation, -1 if not drawn yet
    row: F1  # work space, as long as the largest number of values
    now: I1  # (2,) steps since the root, replayed steps


def graph_urn(
    sizes: Ints, reward: Floats, prior: Floats, families: list[list[tuple[Ints, Floats]]], log: Log, depth: int
) -> GraphUrn:
    """The simulator of a belief with these weighted sets of parents for each action and variable."""
    A, V = len(families), len(sizes)
    masks = np.array([[masks for masks, _ in row] for row in families])
    weights = np.array([[w for _, w in row] for row in families])
    x, actions, y = log
    order = np.argsort(actions, kind="stable")
    first = np.concatenate([[0], np.cumsum(np.bincount(actions, minlength=A))])
    path, taken, drawn = np.zeros((depth + 1, 2, V), np.int64), np.zeros(depth + 1, np.int64), np.full((A, V), -1)
    work, now = np.zeros(int(sizes.max())), np.zeros(2, np.int64)
    return GraphUrn(sizes, reward, prior, masks, weights, x[order], y[order], first, path, taken, drawn, work, now)


@implements(begin, GraphUrn)
@njit
def _begin(model: GraphUrn, rng: Generator) -> None:
    model.drawn[:] = -1
    model.now[STEPS] = model.now[REPLAYED]


@implements(step, GraphUrn)
@njit
def _step(model: GraphUrn, s: int, a: int, rng: Generator) -> tuple[int, int, float, bool, int]:
    t, V = model.now[STEPS], len(model.sizes)
    _write_values(model, s, model.path[t, 0])
    next_state = 0
    for i in range(V):
        if model.drawn[a, i] < 0:
            model.drawn[a, i] = _draw_parents(model, a, i, rng)
        total = _fill_row(model, a, i, model.masks[a, i, model.drawn[a, i]], model.path[t, 0], t)
        u, v, r = uniform(rng) * total, 0, int(model.sizes[i])
        while v < r - 1 and u >= model.row[v]:
            u -= model.row[v]
            v += 1
        model.path[t, 1, i] = v
        next_state = next_state * r + v
    model.actions[t] = a
    model.now[STEPS] = t + 1
    return next_state, next_state, model.reward[s, a], False, 0


@njit
def _write_values(model: GraphUrn, s: int, values: I1) -> None:
    """The values of the variables in state s."""
    for i in range(len(model.sizes) - 1, -1, -1):
        values[i] = s % model.sizes[i]
        s //= model.sizes[i]


@njit
def _fill_row(model: GraphUrn, a: int, i: int, mask: int, state: I1, steps: int) -> float:
    """Write the urn of variable i to `row`: the data and the first `steps` steps since the root; returns its total."""
    r, row = int(model.sizes[i]), model.row
    row[:r] = prior_count(i, mask, model.sizes, model.prior[0], model.prior[1])
    for t in range(model.first[a], model.first[a + 1]):
        if agree(model.x[t], state, mask):
            row[model.y[t, i]] += 1.0
    for t in range(steps):
        if model.actions[t] == a and agree(model.path[t, 0], state, mask):
            row[model.path[t, 1, i]] += 1.0
    return row[:r].sum()


@njit
def _weight(model: GraphUrn, a: int, i: int, n: int) -> float:
    """The weight of set n of parents after the replayed steps."""
    w = model.weights[a, i, n]
    for t in range(model.now[REPLAYED]):
        if w > 0.0 and model.actions[t] == a:
            total = _fill_row(model, a, i, model.masks[a, i, n], model.path[t, 0], t)
            w *= model.row[model.path[t, 1, i]] / total
    return w


@njit
def _draw_parents(model: GraphUrn, a: int, i: int, rng: Generator) -> int:
    """Draw a set of parents in proportion to its weight."""
    N, total = model.masks.shape[2], 0.0
    for n in range(N):
        total += _weight(model, a, i, n)
    u, last = uniform(rng) * total, 0
    for n in range(N):
        w = _weight(model, a, i, n)
        if w > 0.0:
            last, u = n, u - w
            if u < 0.0:
                break
    return last


@implements(forget, GraphUrn)
@njit
def _forget(model: GraphUrn, marks: I1, n: int) -> None:
    model.drawn[:] = -1
    model.now[STEPS] = model.now[REPLAYED]


implements(rollout_action, GraphUrn)(greedy_rollout)


# For searches that return to a history (`kernels/simulators/reversible_step.py`) --------------------------------------


@implements(replay, GraphUrn)
@njit
def _replay(model: GraphUrn, s: int, a: int, k: int) -> None:
    t = model.now[REPLAYED]
    _write_values(model, s, model.path[t, 0])
    _write_values(model, k, model.path[t, 1])
    model.actions[t] = a
    model.now[REPLAYED], model.now[STEPS] = t + 1, t + 1
    model.drawn[:] = -1


@implements(undo, GraphUrn)
@njit
def _undo(model: GraphUrn, s: int, a: int, k: int) -> None:
    now = model.now
    now[STEPS] -= 1
    now[REPLAYED] = min(now[REPLAYED], now[STEPS])
    if now[STEPS] == now[REPLAYED]:
        model.drawn[:] = -1


@implements(likelihood, GraphUrn)
@njit
def _likelihood(model: GraphUrn, s: int, a: int, k: int) -> float:
    state, after, p = np.empty(len(model.sizes), np.int64), np.empty(len(model.sizes), np.int64), 1.0
    _write_values(model, s, state)
    _write_values(model, k, after)
    for i in range(len(model.sizes)):
        total, here = 0.0, 0.0
        for n in range(model.masks.shape[2]):
            w = _weight(model, a, i, n)
            all_values = _fill_row(model, a, i, model.masks[a, i, n], state, model.now[REPLAYED])
            total += w
            here += w * model.row[after[i]] / all_values
        p *= here / total
    return p


# Models of all states ------------------------------------------------------------------------------------------------


def values_of(owner: str, name: str, state: Any, sizes: tuple[int, ...]) -> Ints:
    """The values of the variables in a state, (V,), which is given as a tuple of values or by its number."""
    if isinstance(state, (tuple, list, np.ndarray)):
        if np.ndim(np.asarray(state, object)) != 1 or len(state) != len(sizes):
            raise InvalidArgument(owner, name, f"a tuple of {len(sizes)} values, or a whole number", state)
        return np.array([integer(owner, name, v, 0, n - 1) for v, n in zip(state, sizes, strict=True)])
    s = integer(owner, name, state, 0, int(np.prod(sizes, dtype=np.int64)) - 1)
    return np.array(np.unravel_index(s, sizes))


def flat_outcomes(rewards: Floats) -> Outcomes:
    """Flat outcomes with rewards (S, A): any state may follow any (s, a)."""
    S, A = rewards.shape
    pairs, start, R = np.arange(S * A).reshape(S, A), np.full(S, 1.0 / S), rewards[:, :, None]
    return Outcomes(pairs[:, :, None] * 0, R, pairs, np.ones(S * A, np.int64), R, start, np.zeros(S, np.bool_)).flat()


def all_states(sizes: Ints) -> Ints:
    """The values of the variables in each state, (S, V); the last variable changes fastest."""
    return np.stack(np.unravel_index(np.arange(int(np.prod(sizes))), tuple(sizes.tolist())), axis=1)


@lru_cache(maxsize=64)
def _settings(sizes: tuple[int, ...], parents: tuple[int, ...]) -> Ints:
    """The number of the setting of these parents in each state, (S,)."""
    return frozen(_setting(all_states(np.array(sizes)), parents, sizes))


def _setting(z: Ints, parents: tuple[int, ...], sizes: tuple[int, ...]) -> Ints:
    """The number of the setting of these parents in each row of values z."""
    if not parents:
        return np.zeros(len(z), np.int64)
    return np.asarray(np.ravel_multi_index(tuple(z[:, parents].T), tuple(sizes[j] for j in parents)))


def drawn_rows(x: Ints, y: Ints, i: int, mask: int, sizes: Ints, prior: Floats, rng: Generator) -> Floats:
    """The row of variable i in each state, (S, r), drawn given its parents and the data x, y."""
    values = tuple(sizes.tolist())
    parents = tuple(j for j in range(len(values)) if mask >> j & 1)
    q, r, alpha = math.prod(values[j] for j in parents), values[i], prior_count(i, mask, sizes, prior[0], prior[1])
    n = np.bincount(_setting(x, parents, values) * r + y[:, i], minlength=q * r).reshape(q, r)
    return dirichlet_rows(np.asarray(n + alpha, np.float64), rng)[_settings(values, parents)]


def joint_rows(rows: list[Floats]) -> Floats:
    """Probability of each next state from each state, (S, S), given that of each variable's values, (S, r)."""
    P = np.ones((len(rows[0]), 1))
    for row in rows:
        P = (P[:, :, None] * row[:, None, :]).reshape(len(row), -1)
    return np.asarray(P / P.sum(axis=1, keepdims=True))
