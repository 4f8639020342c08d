"""Value iteration (Bellman 1957; Puterman 1994, sections 6.3 and 6.6; survey §2.2).

Repeat V <- TV = max_a R + gamma P V. This needs no memory except for the values. `solve` is faster.

Dense models: after each backup the optimum lies between V + low/(1 - gamma) and V + high/(1 - gamma), where low and
high are the extremes of TV - V (MacQueen 1966, Porteus 1971). V is moved to the middle of this interval at no cost, so
that only the span high - low must shrink. Successor lists: Gauss-Seidel sweeps, forwards and backwards in turn, then a
plain backup that measures the residual and shifts V. With terminal states V is not shifted.

Cost: one pass over the transitions for each sweep. Claims: the error is at most `error_bound`, from any warm start.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
from numpy.random import Generator

from bayesrl.kernels.arrays import F1, F2
from bayesrl.kernels.dynamic_programming.bellman import Model, backup, converged, largest, sweep
from bayesrl.kernels.jit import njit
from bayesrl.models.mdp import Problem
from bayesrl.models.solution import Iterate, Solution
from bayesrl.parameters import Above, AtLeast, declared
from bayesrl.registry import register


@register(
    "value-iteration",
    kind="solver",
    survey="2.2",
    paper="Puterman94MD",
    evidence=(
        "tests/models/solvers/test_solvers.py::test_registered_solvers",
        "tests/models/solvers/test_solvers.py::test_every_solver_finds_the_best_policy",
        "tests/models/solvers/test_solvers.py::test_the_error_bound_is_true",
    ),
)
@declared
class ValueIteration:
    """Solve a known MDP by repeated backups of the values.

    Examples
    --------
    >>> from bayesrl.registry import make_world
    >>> ValueIteration().solve(make_world("chain")).policy.tolist()
    [0, 0, 0, 0, 0]
    """

    tol: Annotated[float, Above(0), "How far the values may be from the optimum."] = 1e-9
    sweeps: Annotated[int, AtLeast(1), "Passes over the states before giving up."] = 100_000

    def solve(self, problem: Problem, rng: Generator | None = None) -> Solution:
        """The optimum of a known MDP."""
        from bayesrl.models.solve import solve_by  # which imports this file

        return solve_by(
            problem, lambda m, v, target: value_iteration(m, v, target, self.sweeps), "value-iteration", self.tol
        )


def value_iteration(m: Model, v: F1 | None, target: float, sweeps: int = 100_000) -> Iterate:
    """Iterate from v until the residual is at most the target."""
    q = np.empty(m.r.shape)
    v = m.r.max(axis=1) if v is None else v
    iterate = jacobi if len(m.matrix) else gauss_seidel
    n, low, high = iterate(m, v, q, target, sweeps)
    return Iterate(v, q, low, high, n)


@njit
def jacobi(m: Model, v: F1, q: F2, target: float, sweeps: int) -> tuple[int, float, float]:
    """V <- TV + gamma / (1 - gamma) (low + high) / 2."""
    c = 0.5 * m.gamma / (1.0 - m.gamma) if m.shiftable and m.gamma < 1.0 else 0.0
    low, high = backup(m, v, q)
    n = 1
    while n < sweeps and not converged(m, v, low, high, target):
        for s in range(len(v)):
            v[s] = largest(q, s) + c * (low + high)
        low, high = backup(m, v, q)
        n += 1
    return n, low, high


@njit
def gauss_seidel(m: Model, v: F1, q: F2, target: float, sweeps: int) -> tuple[int, float, float]:
    """Sweep in both directions, then make a backup, shifted as in `jacobi`."""
    c = 0.5 * m.gamma / (1.0 - m.gamma) if m.shiftable and m.gamma < 1.0 else 0.0
    pi = np.zeros(len(v), np.int64)
    forwards = np.arange(len(v))
    low, high = backup(m, v, q)
    n = 1
    while n < sweeps and not converged(m, v, low, high, target):
        for s in range(len(v)):
            v[s] = largest(q, s) + c * (low + high)
        sweep(m, v, pi, forwards)
        sweep(m, v, pi, forwards[::-1])
        before = max(high, -low)
        low, high = backup(m, v, q)
        c = c if max(high, -low) <= m.gamma * before else 0.0  # shifted sweeps may diverge
        n += 3
    return n, low, high
