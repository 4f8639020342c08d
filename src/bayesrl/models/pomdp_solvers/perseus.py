"""Perseus: randomised point-based value iteration (Spaan and Vlassis 2005; survey §4.3).

The set B is found by random exploration and then kept. A stage improves all of B with few backups. It draws a belief
from those that are not improved yet and backs it up. If the new vector does not lower the value of this belief, the
stage keeps the new vector, else the best old vector of this belief. All beliefs whose value under the kept vector is at
least their old value count as improved. The stage ends when all of B is improved.

Paper to code: exploration `explore`, a stage `stage`, backup `look_ahead` and `assemble` (_backups.py).
Deviations: one stage may back up no belief that could gain, so a stage that moves no value is followed by a sweep over
all of B (PBVI's), and the end is when that moves none either. Exploration goes back to the start when an episode ends
and, in every step, with probability 1 - gamma: where beliefs become certain it would not come back by itself. It keeps
beliefs that are new, and gives up after `size` times `PATIENCE` steps.
Cost: as PBVI's for each backup; a stage needs few of them.
Claims: as PBVI's, but at the end V may be above what one step ahead of it gives, as a stage drops vectors on which kept
ones rest. It is a lower bound all the same.
"""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np
from numpy.random import Generator, default_rng

from bayesrl.capabilities import HasStates
from bayesrl.checks import Floats
from bayesrl.errors import NotConverged
from bayesrl.kernels.arrays import F1, F2, I1
from bayesrl.kernels.jit import njit
from bayesrl.kernels.ties import better, first_best
from bayesrl.models.pomdp import POMDPProblem, pomdp_of
from bayesrl.models.pomdp_solvers._backups import (
    Arrays,
    Successors,
    arrays_of,
    assemble,
    look_ahead,
    successors,
    sweep,
    without_repetitions,
)
from bayesrl.models.pomdp_solvers.alpha_vectors import AlphaVectors, lowest
from bayesrl.models.pomdp_solvers.pbvi import NEAR, PATIENCE, nearest, points_of, settled_below, simulate
from bayesrl.parameters import Above, AtLeast, Shape, declared
from bayesrl.problems import HasPOMDP
from bayesrl.registry import register
from bayesrl.traits import Traits


@register(
    "perseus",
    kind="solver",
    survey="4.3",
    paper="Spaan05Perseus",
    example=lambda: Perseus(size=20),
    evidence=(
        "tests/models/pomdp_solvers/test_point_based.py::test_below_exact_values",
        "tests/models/pomdp_solvers/test_point_based.py::test_fixed_point_on_given_beliefs",
        "tests/models/pomdp_solvers/test_point_based.py::test_a_stage_equals_its_transcription",
    ),
)
@declared
class Perseus:
    """Alpha-vectors of a known POMDP, from backups at a few beliefs of a random set.

    Examples
    --------
    >>> from bayesrl.models.pomdp import TabularPOMDP
    >>> P = [[[1.0, 0.0]] * 2, [[0.0, 1.0]] * 2]  # a hidden state that stays
    >>> O = [[[0.8, 0.2]] * 2, [[0.2, 0.8]] * 2]  # and is seen with noise
    >>> solved = Perseus(size=50).solve(TabularPOMDP.from_dense(P, O, [[1, 0], [0, 1]], gamma=0.9))
    >>> round(solved.value([0.5, 0.5]), 2), solved.q([0.9, 0.1]).round(2).tolist()
    (8.89, [9.62, 8.82])
    """

    beliefs: Annotated[
        Floats | None, Shape("(B, S)"), "Beliefs at which backups are made; None: those of random exploration."
    ] = None
    size: Annotated[int, AtLeast(1), "Number of beliefs, B, that are explored."] = 300
    tol: Annotated[float, Above(0), "Accuracy of the values at B: they move by less than tol (1 - gamma) / gamma."] = (
        1e-3
    )

    sweeps: Annotated[int, AtLeast(1), "Stages before giving up."] = 250_000

    needs: ClassVar[tuple[type, ...]] = (HasPOMDP, HasStates)
    traits: ClassVar[Traits] = Traits(yields="planner")

    def solve(self, problem: POMDPProblem, rng: Generator | None = None) -> AlphaVectors:
        """Solve a POMDP, or that of a world or a filter. Without `rng` the random numbers are always the same ones.

        If the values at B still move by `tol` (1 - gamma) / gamma, `NotConverged` carries the solution found.
        """
        pomdp = pomdp_of(problem, "Perseus")
        m, vectors = arrays_of(pomdp), lowest(pomdp, "Perseus")[None]
        actions: I1 = np.zeros(1, np.int64)
        rng = default_rng(0) if rng is None else rng
        points = points_of("Perseus", self.beliefs, pomdp)
        if self.beliefs is None:
            points = explore(m, points[0], self.size, rng)
        w, v, move = successors(m, points), (points @ vectors.T).max(axis=1), settled_below(m, self.tol)
        for n in range(1, self.sweeps + 1):
            before = v
            vectors, actions, v = stage(m, points, w, vectors, actions, rng.permutation(len(points)))
            moved = (v - before).max()
            if moved < move:
                before = v
                vectors, actions, v = sweep(m, points, w, vectors, actions)
                vectors, actions = without_repetitions(vectors, actions)
                moved = (v - before).max()
                if moved < move:
                    return AlphaVectors(pomdp, vectors, actions, iterations=n, method="perseus")
        best = AlphaVectors(pomdp, vectors, actions, iterations=self.sweeps, method="perseus")
        raise NotConverged("perseus", best, float(moved / move * self.tol), f"{self.sweeps} stages")


@njit
def explore(m: Arrays, start: F1, size: int, rng: Generator) -> F2:
    """Beliefs (B, S) that random actions lead to, without repetitions; the start comes first."""
    points: F2 = np.empty((size, len(start)))
    points[0] = start
    b, n, A = start.copy(), 1, m.r.shape[1]
    for _ in range(PATIENCE * size):
        if n == size:
            break
        if b.sum() == 0.0 or rng.random() >= m.gamma:  # the episode ended
            b = start.copy()
        b = simulate(m, b, int(rng.random() * A), rng)
        if b.sum() == 0.0:
            continue
        if nearest(points, n, b) > NEAR:
            points[n] = b
            n += 1
    return points[:n].copy()


@njit
def stage(m: Arrays, points: F2, w: Successors, vectors: F2, actions: I1, order: I1) -> tuple[F2, I1, F1]:
    """Improve all beliefs, drawn in this order; returns the new vectors, their actions and the values (B,)."""
    B, S = points.shape
    columns, values = vectors.T.copy(), np.dot(points, vectors.T)
    new, chosen, v, n = np.empty((B, S)), np.empty(B, np.int64), np.full(B, -np.inf), 0
    for i in order:
        best = first_best(values[i])
        if not better(values[i, best], v[i]):
            continue
        q, pick = look_ahead(m, i, points[i], w, columns)
        a = first_best(q)
        new[n], chosen[n] = assemble(m, a, pick[a], vectors), a
        if better(values[i, best], np.dot(new[n], points[i])):
            new[n], chosen[n] = vectors[best], actions[best]
        v = np.maximum(v, np.dot(points, new[n]))
        v[i] = max(v[i], values[i, best])  # in spite of rounding
        n += 1
    return new[:n].copy(), chosen[:n].copy(), v
