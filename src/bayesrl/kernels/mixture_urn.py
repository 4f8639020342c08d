"""Simulating a finite mixture of Dirichlet beliefs: a component is drawn at the root, then its urns are followed.

The components' urns stand one after the other in one `Urn`: urn g of component c is number c G + g. A simulation draws
its component at its first step from the present weights and keeps it: given the component, outcomes are a Polya urn
(`urn.py`), so this is root sampling from the mixture, at O(1) a step.

A search that comes back to a history (`replay.py`) tells the outcomes. A told outcome is put into the urns of all
components and multiplies each weight by that component's predictive; the weights of the path are a stack, so that
taking an outcome back restores them exactly.

Shapes: C components, G groups each, D steps.
"""

from typing import NamedTuple

from numpy.random import Generator

from bayesrl.kernels.arrays import F1, F2, I1
from bayesrl.kernels.jit import njit
from bayesrl.kernels.replay import likelihood, put, replay, share, take_out, undo
from bayesrl.kernels.simulator import begin, forget, implements, step, wander
from bayesrl.kernels.stream import uniform
from bayesrl.kernels.urn import Urn, draw, rollout_action, signed

COMPONENT, STEPS, TOLD = 0, 1, 2
"""Entries of `MixtureUrn.now`."""


class MixtureUrn(NamedTuple):
    """The urns of all components, their weights, and where the running simulation stands."""

    urn: Urn
    weights: F2  # (D + 1, C) posterior weights after each told outcome; the first row is before any
    now: I1  # (3,) the component of the running simulation (-1: not drawn yet), its steps, outcomes told


@implements(begin, MixtureUrn)
@njit
def _begin(model: MixtureUrn, rng: Generator) -> None:
    model.now[COMPONENT], model.now[STEPS] = -1, 0


@implements(step, MixtureUrn)
@njit
def _step(model: MixtureUrn, s: int, a: int, rng: Generator) -> tuple[int, int, float, bool, int]:
    urn, now = model.urn, model.now
    if now[COMPONENT] < 0:
        now[COMPONENT] = _drawn(model.weights[now[TOLD]], rng)
    now[STEPS] += 1
    g = _group(model, now[COMPONENT], s, a)
    k = draw(urn, g, rng)
    i = urn.place[s, a, 1]
    y = urn.succ[i, k]
    return k, signed(y), urn.reward[i, k], urn.terminal[y], g


@njit
def _group(model: MixtureUrn, c: int, s: int, a: int) -> int:
    """The urn of component c that draws the outcome of (s, a)."""
    return c * (len(model.urn.rows) // model.weights.shape[1]) + signed(model.urn.place[s, a, 0])


@njit
def _drawn(w: F1, rng: Generator) -> int:
    """A component drawn in proportion to the weights."""
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


implements(wander, MixtureUrn)(rollout_action)


# For searches that return to a history (`replay.py`) ----------------------------------------------------------------


@implements(replay, MixtureUrn)
@njit
def _replay(model: MixtureUrn, s: int, a: int, k: int) -> None:
    t, total = model.now[TOLD], 0.0
    for c in range(model.weights.shape[1]):
        g = _group(model, c, s, a)
        model.weights[t + 1, c] = model.weights[t, c] * share(model.urn, g, k)
        total += model.weights[t + 1, c]
        put(model.urn, g, k)
    for c in range(model.weights.shape[1]):
        model.weights[t + 1, c] /= total
    model.now[TOLD], model.now[COMPONENT] = t + 1, -1


@implements(undo, MixtureUrn)
@njit
def _undo(model: MixtureUrn, s: int, a: int, k: int) -> None:
    now = model.now
    if now[STEPS] > 0:  # a step of the running simulation: only its component has seen it
        take_out(model.urn, _group(model, now[COMPONENT], s, a))
        now[STEPS] -= 1
    else:
        for c in range(model.weights.shape[1]):
            take_out(model.urn, _group(model, c, s, a))
        now[TOLD] -= 1
    if now[STEPS] == 0:
        now[COMPONENT] = -1


@implements(likelihood, MixtureUrn)
@njit
def _likelihood(model: MixtureUrn, s: int, a: int, k: int) -> float:
    w, p = model.weights[model.now[TOLD]], 0.0
    for c in range(len(w)):
        p += w[c] * share(model.urn, _group(model, c, s, a), k)
    return p / w.sum()
