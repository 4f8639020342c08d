"""Upper bounds of a POMDP's optimum, and a bracket of it.

QMDP (Littman, Cassandra and Kaelbling 1995) assumes that the state is seen after the next step: alpha_a = Q_MDP(., a).
The fast informed bound (Hauskrecht 2000) assumes that it was seen before that step,

    alpha_a(s) = r(s, a) + gamma sum_o max_a' sum_s' T(s'|s, a) Omega(o|s', a) alpha_a'(s').

It is found from QMDP's vectors downwards, so that every iterate is a bound. V*(b) <= max_a b . alpha_a for both.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from bayesrl.checks import integer, number
from bayesrl.kernels.arrays import F2
from bayesrl.kernels.jit import njit
from bayesrl.models.pomdp import POMDPProblem, pomdp_of
from bayesrl.models.pomdp_solvers._backups import Arrays, arrays_of
from bayesrl.models.solve import solve

SWEEPS = 10_000
"""Sweeps of the fast informed bound; with fewer it is only less tight."""


def qmdp_bound(problem: POMDPProblem) -> F2:
    """QMDP's vectors, (A, S): the action values of the MDP in which the state is seen.

    >>> from bayesrl.models.pomdp import TabularPOMDP
    >>> blind = TabularPOMDP.from_dense([[[1.0, 0.0]] * 2, [[0.0, 1.0]] * 2], [[[1.0]] * 2] * 2, [[1, 0], [0, 1]], 0.5)
    >>> qmdp_bound(blind).round(5).tolist()  # always guessing the state right is worth 2; without seeing it, 1
    [[2.0, 1.0], [1.0, 2.0]]
    """
    pomdp = pomdp_of(problem, "qmdp_bound")
    solved = solve(pomdp.mdp)
    q = solved.q + pomdp.gamma * solved.error_bound
    q[pomdp.terminal] = 0.0
    return np.ascontiguousarray(q.T)


def fast_informed_bound(problem: POMDPProblem, tol: float = 1e-6) -> F2:
    """The vectors of the fast informed bound, (A, S), within `tol` of its fixed point. They are never above QMDP's.

    >>> from bayesrl.models.pomdp import TabularPOMDP
    >>> blind = TabularPOMDP.from_dense([[[1.0, 0.0]] * 2, [[0.0, 1.0]] * 2], [[[1.0]] * 2] * 2, [[1, 0], [0, 1]], 0.5)
    >>> fast_informed_bound(blind).round(5).tolist()
    [[2.0, 1.0], [1.0, 2.0]]
    """
    owner = "fast_informed_bound"
    pomdp = pomdp_of(problem, owner)
    tol = number(owner, "tol", tol, 0.0, above=True)
    alpha = qmdp_bound(pomdp)
    lower(arrays_of(pomdp), alpha, tol * max(1.0 - pomdp.gamma, 1e-3), SWEEPS)
    return alpha


def bracket(
    problem: POMDPProblem, size: Annotated[int, "Beliefs of the lower bound."] = 300, tol: float = 1e-3
) -> tuple[float, float]:
    """(low, high) around the value of the start: PBVI on `size` beliefs, and the fast informed bound."""
    from bayesrl.models.pomdp_solvers.pbvi import PBVI

    owner = "bracket"
    pomdp = pomdp_of(problem, owner)
    solver = PBVI(size=integer(owner, "size", size, 1), tol=number(owner, "tol", tol, 0.0, above=True))
    low = solver.solve(pomdp).start_value
    return low, max(low, float((fast_informed_bound(pomdp) @ pomdp.start).max()))


@njit
def lower(m: Arrays, alpha: F2, move: float, sweeps: int) -> int:
    """Sweep over the states until no entry of alpha (A, S) falls by more than `move`; returns the sweeps."""
    A, S = alpha.shape
    x: F2 = np.empty((m.Z, A))  # sum_s' T Omega alpha_a'(s')
    for n in range(sweeps):
        fell = 0.0
        for s in range(S):
            if m.terminal[s]:
                continue
            for a in range(A):
                x[:] = 0.0
                g = m.group[s, a]
                for k in range(m.size[g]):
                    y, p = m.succ[s, a, k], m.prob[g, k]
                    h = m.observation_group[y, a]
                    for l in range(m.observation_size[h]):
                        for b in range(A):
                            x[m.observation[y, a, l], b] += p * m.observation_prob[h, l] * alpha[b, y]
                total = 0.0
                for o in range(m.Z):
                    total += x[o].max()
                new = m.r[s, a] + m.gamma * total
                if new < alpha[a, s]:
                    fell = max(fell, alpha[a, s] - new)
                    alpha[a, s] = new
        if fell <= move:
            return n + 1
    return sweeps
