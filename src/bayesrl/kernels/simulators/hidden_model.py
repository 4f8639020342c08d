"""A known POMDP for searches: the state is drawn from the belief at the root, and an outcome is an observation.

A step draws the outcome of (s, a), then the observation of the state reached. Both are drawn by binary search in
cumulative probabilities, so a step takes O(log K). Rows of one outcome take no random number.

Shapes: S states, A actions, G and H groups of at most K outcomes and L observations, n states of positive probability.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from bayesrl.kernels.arrays import B1, B2, F1, F2, F4, I1, I2, I3
from bayesrl.kernels.jit import inlined, njit
from bayesrl.kernels.random.stream import uniform
from bayesrl.kernels.simulators.simulator import (
    Simulator,
    begin,
    forget,
    implements,
    mask_illegal,
    rollout_action,
    root,
    step,
)
from bayesrl.kernels.simulators.urn import greedy_rollout


class HiddenModel(NamedTuple):
    """A POMDP, and the belief over its state."""

    states: I1  # (n,) the states that are possible now
    below: F2  # (1, n) their cumulative probabilities
    succ: I3  # (S, A, K) next state of outcome k
    group: I2  # (S, A) row of `cdf`
    size: I1  # (G,) number of outcomes
    cdf: F2  # (G, K) cumulative probabilities; see `cumulative`
    observation: I3  # (S, A, L) observation of outcome j after reaching s by a
    observation_group: I2  # (S, A) row of `observation_cdf`
    observation_size: I1  # (H,)
    observation_cdf: F2  # (H, L)
    reward: F4  # (S, A, 1 or S, 1 or Z)
    terminal: B1  # (S,)
    legal: B2  # (S, A) whether an action may be tried; no rows: all may


def cumulative(prob: F2) -> F2:
    """Cumulative probabilities of rows. They are infinite from the last positive one on, so that no other is drawn."""
    so_far = np.cumsum(prob > 0.0, axis=1)
    return np.where(so_far < so_far[:, -1:], np.cumsum(prob, axis=1), np.inf)


def rooted(model: HiddenModel, b: F1) -> HiddenModel:
    """The same model with another belief over its state, (S,)."""
    states = np.flatnonzero(b)
    return model._replace(states=states, below=cumulative(b[None, states]))


@inlined
def draw_by(cdf: F2, g: int, n: int, rng: Generator) -> int:
    """Draw one of the n outcomes of row g: the first whose cumulative probability exceeds a random number."""
    low, high = 0, n - 1
    if high > 0:
        u = uniform(rng)
        while low < high:
            middle = (low + high) // 2
            if u < cdf[g, middle]:
                high = middle
            else:
                low = middle + 1
    return low


@inlined
def reward_of(reward: F4, s: int, a: int, y: int, o: int) -> float:
    """R(s, a, s', o), from an array that may not depend on s' or o."""
    return reward[s, a, y if reward.shape[2] > 1 else 0, o if reward.shape[3] > 1 else 0]


@implements(begin, HiddenModel)
@njit
def _begin(model: HiddenModel, rng: Generator) -> None:
    pass


@implements(root, HiddenModel)
@njit
def _root(model: HiddenModel, s: int, rng: Generator) -> int:
    return model.states[draw_by(model.below, 0, len(model.states), rng)]


@implements(step, HiddenModel)
@njit
def _step(model: HiddenModel, s: int, a: int, rng: Generator) -> tuple[int, int, float, bool, int]:
    g = model.group[s, a]
    y = int(model.succ[s, a, draw_by(model.cdf, g, model.size[g], rng)])
    h = model.observation_group[y, a]
    o = int(model.observation[y, a, draw_by(model.observation_cdf, h, model.observation_size[h], rng)])
    return o, y, reward_of(model.reward, s, a, y, o), model.terminal[y], 0


@implements(forget, HiddenModel)
@njit
def _forget(model: HiddenModel, marks: I1, n: int) -> None:
    pass


@implements(mask_illegal, HiddenModel)
@njit
def _bar(model: HiddenModel, s: int, Q: F2, N: I2, h: int) -> None:
    if len(model.legal) > 0:
        for a in range(Q.shape[1]):
            if not model.legal[s, a]:
                Q[h, a], N[h, a] = -np.inf, 1


@implements(rollout_action, HiddenModel)
@njit
def _rollout(model: HiddenModel, P: I2, s: int, a: int, epsilon: float, rng: Generator) -> int:
    a = greedy_rollout(model, P, s, a, epsilon, rng)
    while len(model.legal) > 0 and not model.legal[s, a]:
        a = greedy_rollout(model, P, s, a, epsilon, rng)
    return a


# Worlds that cannot be listed ----------------------------------------------------------------------------------------


class Rooted(NamedTuple):
    """A compiled world and a sample of its state. Without a sample the world's own `root` draws the start."""

    states: I1  # (n,)
    below: F2  # (1, n) cumulative weights
    inner: Simulator  # with `root`, `step`, `rollout_action` and perhaps `mask_illegal`


@implements(begin, Rooted)
@njit
def _begin_rooted(model: Rooted, rng: Generator) -> None:
    pass


@implements(root, Rooted)
@njit
def _root_rooted(model: Rooted, s: int, rng: Generator) -> int:
    if len(model.states) == 0:
        return root(model.inner, s, rng)
    return model.states[draw_by(model.below, 0, len(model.states), rng)]


@implements(mask_illegal, Rooted)
@njit
def _bar_rooted(model: Rooted, s: int, Q: F2, N: I2, h: int) -> None:
    mask_illegal(model.inner, s, Q, N, h)


@implements(step, Rooted)
@njit
def _step_rooted(model: Rooted, s: int, a: int, rng: Generator) -> tuple[int, int, float, bool, int]:
    return step(model.inner, s, a, rng)


@implements(forget, Rooted)
@njit
def _forget_rooted(model: Rooted, marks: I1, n: int) -> None:
    pass


@implements(rollout_action, Rooted)
@njit
def _rollout_rooted(model: Rooted, P: I2, s: int, a: int, epsilon: float, rng: Generator) -> int:
    return rollout_action(model.inner, P, s, a, epsilon, rng)
