"""Polya urns for a finite mixture of Dirichlet beliefs: draw a component at the root, then draw from its urns.

One `Urn` holds the urns of all components: urn g of component c has index c G + g. A simulation draws its component at
its first step, from the current weights, and keeps it. Given the component, outcomes follow a Polya urn (`urn.py`). So
this is root sampling from the mixture, at O(1) per step.

A search that returns to a history replays its outcomes (`replay.py`). A replayed outcome is put into the urns of all
components, and it multiplies the weight of each component by that component's predictive probability. The weights
along the path form a stack, so that undoing an outcome restores them exactly.

Shapes: C components, G groups each, D steps.
"""

from typing import NamedTuple

from numpy.random import Generator

from bayesrl.kernels.arrays import F1, F2, I1
from bayesrl.kernels.jit import njit
from bayesrl.kernels.random.stream import uniform
from bayesrl.kernels.simulators.reversible_step import ball_probability, likelihood, put_ball, replay, take_ball, undo
from bayesrl.kernels.simulators.simulator import begin, forget, implements, rollout_action, step
from bayesrl.kernels.simulators.urn import Urn, draw, greedy_rollout, signed

COMPONENT, STEPS, REPLAYED = 0, 1, 2
"""Entries of `MixtureUrn.now`."""


class MixtureUrn(NamedTuple):
    """The urns of all components, their weights, and the progress of the running simulation."""

    urn: Urn
    weights: F2  # (D + 1, C) row n: posterior weights after n replayed outcomes
    now: I1  # (3,) component of the running simulation (-1 if not drawn yet), its steps, number of replayed outcomes


@implements(begin, MixtureUrn)
@njit
def _begin(model: MixtureUrn, rng: Generator) -> None:
    model.now[COMPONENT], model.now[STEPS] = -1, 0


@implements(step, MixtureUrn)
@njit
def _step(model: MixtureUrn, s: int, a: int, rng: Generator) -> tuple[int, int, float, bool, int]:
    urn, now = model.urn, model.now
    if now[COMPONENT] < 0:
        now[COMPONENT] = _draw_component(model.weights[now[REPLAYED]], rng)
    now[STEPS] += 1
    g = _group(model, now[COMPONENT], s, a)
    k = draw(urn, g, rng)
    i = urn.place[s, a, 1]
    y = urn.succ[i, k]
    return k, signed(y), urn.reward[i, k], urn.terminal[y], g


@njit
def _group(model: MixtureUrn, c: int, s: int, a: int) -> int:
    """The index of component c's urn for (s, a)."""
    return c * (len(model.urn.rows) // model.weights.shape[1]) + signed(model.urn.place[s, a, 0])


@njit
def _draw_component(w: F1, rng: Generator) -> int:
    """Draw a component in proportion to the weights."""
    u, last = uniform(rng) * w.sum(), 0
    for c in range(len(w)):
        if w[c] > 0.0:
            last, u = c, u - w[c]
            if u < 0.0:
                break
    return last


@implements(forget, MixtureUrn)
@njit
def _forget(model: MixtureUrn, marks: I1, n: int) -> None:
    forget(model.urn, marks, n)
    model.now[COMPONENT], model.now[STEPS] = -1, 0


implements(rollout_action, MixtureUrn)(greedy_rollout)


# For searches that return to a history (`replay.py`) ----------------------------------------------------------------


@implements(replay, MixtureUrn)
@njit
def _replay(model: MixtureUrn, s: int, a: int, k: int) -> None:
    t, total = model.now[REPLAYED], 0.0
    for c in range(model.weights.shape[1]):
        g = _group(model, c, s, a)
        model.weights[t + 1, c] = model.weights[t, c] * ball_probability(model.urn, g, k)
        total += model.weights[t + 1, c]
        put_ball(model.urn, g, k)
    for c in range(model.weights.shape[1]):
        model.weights[t + 1, c] /= total
    model.now[REPLAYED], model.now[COMPONENT] = t + 1, -1


@implements(undo, MixtureUrn)
@njit
def _undo(model: MixtureUrn, s: int, a: int, k: int) -> None:
    now = model.now
    if now[STEPS] > 0:  # a step of the running simulation, which only its component has counted
        take_ball(model.urn, _group(model, now[COMPONENT], s, a))
        now[STEPS] -= 1
    else:
        for c in range(model.weights.shape[1]):
            take_ball(model.urn, _group(model, c, s, a))
        now[REPLAYED] -= 1
    if now[STEPS] == 0:
        now[COMPONENT] = -1


@implements(likelihood, MixtureUrn)
@njit
def _likelihood(model: MixtureUrn, s: int, a: int, k: int) -> float:
    w, p = model.weights[model.now[REPLAYED]], 0.0
    for c in range(len(w)):
        p += w[c] * ball_probability(model.urn, _group(model, c, s, a), k)
    return p / w.sum()
