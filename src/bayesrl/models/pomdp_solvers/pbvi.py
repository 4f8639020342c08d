"""PBVI: point-based value iteration (Pineau, Gordon and Thrun 2003; survey §4.3).

Exact alpha-vectors are too many for all but tiny problems. PBVI keeps one vector for each belief of a finite set B. A
sweep backs up every belief of B from the same vectors, and keeps the best alpha-vector for each action and
observation. When the values at B have settled, B doubles: for every b in B and every action one step is simulated, and
the successor that is farthest from B (L1) is added. The vectors are values of policies, so V is a lower bound.

Paper to code: backup `look_ahead` and `assemble` (_backups.py), sweep `sweep`, expansion `expand`.
Deviations: old vectors on which the new values rest are kept, if no new vector replaces them (`still_needed`). With one
vector for each belief alone, V may fall between the points of B, and then at B too: values can oscillate.
Of vectors that tie at a belief the first is taken: V at B does not depend on it, V beside B does.
Steps into a terminal state are not added. Where there is no room for all new beliefs, the farthest are taken.
Cost: O(B A Z S N) for a sweep with N vectors, not many more than B; sparse in transitions, observations and beliefs.
Claims: below the exact value everywhere, never falling at B, the fixed point on given beliefs, exact as B grows.
"""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np
from numpy.random import Generator, default_rng

from bayesrl.capabilities import HasStates
from bayesrl.checks import Floats, frozen
from bayesrl.errors import NotConverged
from bayesrl.kernels.arrays import F1, F2, I1
from bayesrl.kernels.jit import njit
from bayesrl.kernels.ties import better, first_best
from bayesrl.models.pomdp import POMDPProblem, TabularPOMDP, pomdp_of
from bayesrl.models.pomdp_solvers._backups import Arrays, arrays_of, predict, successors, sweep, without_repetitions
from bayesrl.models.pomdp_solvers.alpha_vectors import AlphaVectors, beliefs_of, lowest
from bayesrl.parameters import Above, AtLeast, Shape, declared
from bayesrl.problems import HasPOMDP
from bayesrl.registry import register
from bayesrl.traits import Traits

SWEEPS = 20_000
"""Sweeps for one set of beliefs before B grows."""
PATIENCE = 20
"""Expansions without a new belief before B is taken to be complete."""
NEAR = 1e-9
"""Beliefs at a smaller L1 distance are the same."""


@register(
    "pbvi",
    kind="solver",
    survey="4.3",
    paper="Pineau03PBVI",
    example=lambda: PBVI(size=20),
    evidence=(
        "tests/models/pomdp_solvers/test_point_based.py::test_fixed_point_on_given_beliefs",
        "tests/models/pomdp_solvers/test_point_based.py::test_sweep_equals_its_transcription",
    ),
)
@declared
class PBVI:
    """Alpha-vectors of a known POMDP, one for each belief of a growing set.

    Examples
    --------
    >>> from bayesrl.models.pomdp import TabularPOMDP
    >>> P = [[[1.0, 0.0]] * 2, [[0.0, 1.0]] * 2]  # a hidden state that stays
    >>> O = [[[0.8, 0.2]] * 2, [[0.2, 0.8]] * 2]  # and is seen with noise
    >>> solved = PBVI(size=50).solve(TabularPOMDP.from_dense(P, O, [[1, 0], [0, 1]], gamma=0.9))
    >>> round(solved.value([0.5, 0.5]), 2), solved.q([0.9, 0.1]).round(2).tolist()
    (8.89, [9.59, 8.79])
    """

    beliefs: Annotated[
        Floats | None, Shape("(B, S)"), "Beliefs at which backups are made; None: B grows from the start."
    ] = None
    size: Annotated[int, AtLeast(1), "Largest number of beliefs, B, if it grows."] = 300
    tol: Annotated[float, Above(0), "Accuracy of the values at B: they move by less than tol (1 - gamma) / gamma."] = (
        1e-3
    )

    sweeps: Annotated[int, AtLeast(1), "Sweeps before giving up, for all sets of beliefs together."] = 250_000

    needs: ClassVar[tuple[type, ...]] = (HasPOMDP, HasStates)
    traits: ClassVar[Traits] = Traits(yields="planner")

    def solve(self, problem: POMDPProblem, rng: Generator | None = None) -> AlphaVectors:
        """Solve a POMDP, or that of a world or a filter. Without `rng` the simulated steps are always the same ones.

        If the values at the last B still move by `tol` (1 - gamma) / gamma, `NotConverged` carries the solution found.
        """
        pomdp = pomdp_of(problem, "PBVI")
        m, first = arrays_of(pomdp), lowest(pomdp, "PBVI")
        points = points_of("PBVI", self.beliefs, pomdp)
        vectors, actions, n, error = settle(
            m, points, first[None], np.zeros(1, np.int64), self.tol, min(SWEEPS, self.sweeps)
        )
        rng = default_rng(0) if rng is None else rng
        while self.beliefs is None and len(points) < self.size and n < self.sweeps:
            before = len(points)
            for _ in range(PATIENCE):
                points = expand(m, points, self.size, rng)
                if len(points) > before:
                    break
            else:
                break
            vectors, actions, more, error = settle(m, points, vectors, actions, self.tol, min(SWEEPS, self.sweeps - n))
            n += more
        if error >= self.tol and n < self.sweeps:
            vectors, actions, more, error = settle(m, points, vectors, actions, self.tol, self.sweeps - n)
            n += more
        found = AlphaVectors(pomdp, frozen(vectors), frozen(actions), iterations=n, method="pbvi")
        if error >= self.tol:
            raise NotConverged("pbvi", found, error, f"{n} sweeps")
        return found


def points_of(owner: str, beliefs: Floats | None, pomdp: TabularPOMDP) -> F2:
    """The given beliefs (B, S), or the start (1, S)."""
    if beliefs is None:
        return np.array(pomdp.start[None])
    return np.array(beliefs_of(owner, "beliefs", beliefs, (None, pomdp.n_states)))


def settle(m: Arrays, points: F2, vectors: F2, actions: I1, tol: float, most: int) -> tuple[F2, I1, int, float]:
    """Sweep until the values at the beliefs move by less than tol (1 - gamma) / gamma, or `most` times.

    Also returns the number of sweeps, and the tolerance that the last move would meet.
    """
    move, w, v = settled_below(m, tol), successors(m, points), (points @ vectors.T).max(axis=1)
    n, moved = 0, np.inf
    while moved >= move and n < most:
        before = v
        vectors, actions, v = sweep(m, points, w, vectors, actions)
        vectors, actions = without_repetitions(vectors, actions)
        n, moved = n + 1, np.abs(v - before).max()
    return vectors, actions, n, float(moved / move * tol)


def settled_below(m: Arrays, tol: float) -> float:
    """The move tol (1 - gamma) / gamma of the values in a sweep; tol itself with discount 0 or 1."""
    return tol * (1.0 - m.gamma) / m.gamma if 0.0 < m.gamma < 1.0 else tol


@njit
def expand(m: Arrays, points: F2, size: int, rng: Generator) -> F2:
    """Add to B, for each of its beliefs, the farthest of its simulated successors; the farthest of all come first."""
    (B, S), A = points.shape, m.r.shape[1]
    found, distance = np.empty((B, S)), np.zeros(B)
    for i in range(B):
        for a in range(A):
            b = simulate(m, points[i], a, rng)
            d = nearest(points, B, b) if b.sum() > 0.0 else 0.0
            if better(d, distance[i], 1.0):
                found[i], distance[i] = b, d
    n, new = B, np.empty((size, S))
    new[:B] = points
    while n < size:
        i = first_best(distance, 1.0)
        if distance[i] <= NEAR:
            break
        new[n] = found[i]
        n += 1
        for j in range(B):
            if distance[j] > NEAR:
                distance[j] = min(distance[j], np.abs(found[j] - found[i]).sum())
    return new[:n]


@njit
def nearest(points: F2, n: int, b: F1) -> float:
    """The L1 distance from b to the nearest of the first n points."""
    d = 2.0
    for j in range(n):
        d = min(d, np.abs(points[j] - b).sum())
    return d


@njit
def simulate(m: Arrays, b: F1, a: int, rng: Generator) -> F1:
    """The belief after a simulated step; zeros if the step ended the episode."""
    y = predict(m, b, a)
    s = draw(y, rng.random())
    h, o = 0, 0
    if s >= 0:
        h = m.observation_group[s, a]
        k = draw(m.observation_prob[h], rng.random())
        o = m.observation[s, a, k if k >= 0 else m.observation_size[h] - 1]
    after: F1 = np.zeros(len(b))
    for s2 in range(len(b)):
        if y[s2] > 0.0 and s >= 0:
            g = m.observation_group[s2, a]
            for k in range(m.observation_size[g]):
                if m.observation[s2, a, k] == o:
                    after[s2] += y[s2] * m.observation_prob[g, k]
    total = after.sum()
    return after / total if total > 0.0 else after


@njit
def draw(p: F1, u: float) -> int:
    """An index drawn by u from probabilities p; -1 if they sum to less than u."""
    for i in range(len(p)):
        u -= p[i]
        if u < 0.0:
            return i
    return -1
