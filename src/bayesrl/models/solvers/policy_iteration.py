"""Policy iteration (Howard 1960; Puterman 1994, section 6.4; survey §2.2).

Evaluate the policy exactly, then change its action in every state where another action is better. Stop when no action
is better. An action is changed only if the difference exceeds the rounding error, so that tied policies do not cycle.
The method solves a few linear systems instead of making hundreds of sweeps. Use it for small or slowly mixing problems.

Deviations: beyond a few hundred states, one improvement is several Gauss-Seidel sweeps over the states in the order of
their values, so that the value of a goal reaches all states at once. Without initial values, the first policy is greedy
for the values of the uniform random policy, which reflect every goal that can be reached.
Cost: O(S^3) for each policy, O(S) to O(S^1.5) on rings and grids.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
from numpy.random import Generator

from bayesrl.checks import Floats
from bayesrl.errors import InvalidArgument
from bayesrl.kernels.arrays import F1, F2, I1
from bayesrl.kernels.dynamic_programming.bellman import (
    Model,
    backup,
    converged,
    eliminate,
    improve,
    is_small,
    rounding_error,
    sweep,
)
from bayesrl.kernels.jit import njit
from bayesrl.models.mdp import Problem
from bayesrl.models.solution import Iterate, Solution
from bayesrl.models.solvers.episodic import policy_to_the_end
from bayesrl.models.solvers.evaluation import evaluate, mixture
from bayesrl.parameters import Above, AtLeast, declared
from bayesrl.registry import register

TINY = 40
"""Number of states up to which a linear system costs less than a few sweeps."""
SWEEPS = 15
"""Largest number of sweeps of one improvement. Sweeps end when the policy no longer changes."""


@register(
    "policy-iteration",
    kind="solver",
    survey="2.2",
    paper="Puterman94MD",
    evidence=(
        "tests/models/solvers/test_solvers.py::test_registered_solvers",
        "tests/models/solvers/test_solvers.py::test_every_solver_finds_the_best_policy",
        "tests/models/solvers/test_solvers.py::test_tied_policies_end",
    ),
)
@declared
class PolicyIteration:
    """Solve a known MDP by exact evaluation and strict improvement of policies.

    Examples
    --------
    >>> from bayesrl.registry import make_world
    >>> PolicyIteration().solve(make_world("double-loop")).values.round(2).tolist()[:3]
    [7.2, 6.72, 7.08]
    """

    tol: Annotated[float, Above(0), "How far the values may be from the optimum."] = 1e-9
    policies: Annotated[int, AtLeast(1), "Policies to be evaluated before giving up."] = 1000

    def solve(self, problem: Problem, rng: Generator | None = None) -> Solution:
        """The optimum of a known MDP."""
        from bayesrl.models.solve import solve_by  # which imports this file

        return solve_by(
            problem, lambda m, v, target: policy_iteration(m, v, target, self.policies), "policy-iteration", self.tol
        )


def policy_iteration(m: Model, v: Floats | None, target: float, policies: int = 1000) -> Iterate:
    """Iterate from the policy that is greedy for v. With gamma = 1, iterate from a policy that ends."""
    S, A = m.r.shape
    q, pi = np.empty((S, A)), np.zeros(S, np.int64)
    if m.gamma == 1.0:
        pi = policy_to_the_end(m)
        v = require_ending(evaluate(m, pi))
    if v is None:
        at_random = S > TINY
        v = require_ending(evaluate(mixture(m, np.full((S, A), 1.0 / A)), pi)) if at_random else m.r.max(axis=1)
    if is_small(m):
        n, low, high = howard(m, v, q, pi, target, policies)
        if n < 0:
            require_ending(None)
        return Iterate(v, q, low, high, n)
    iterations = 0
    while iterations < policies:
        iterations += 1
        w = v.copy()
        order = np.argsort(-w)
        for _ in range(SWEEPS):
            if sweep(m, w, pi, order) == 0:
                break
        v = require_ending(evaluate(m, pi))
        low, high = backup(m, v, q)
        if high <= 4.0 * rounding_error(m, v) or converged(m, v, low, high, target):
            break
    return Iterate(v, q, low, high, iterations)


def require_ending(values: Floats | None) -> Floats:
    """The values of a policy, or an error if it has none."""
    if values is None:
        expected = "one whose rewards cannot be collected forever, as the discount is 1"
        raise InvalidArgument("solve", "problem", expected, "a policy that never ends and gains")
    return values


@njit
def howard(m: Model, v: F1, q: F2, pi: I1, target: float, limit: int) -> tuple[int, float, float]:
    """Policy iteration by elimination from the policy that is greedy for v; returns (iterations, low, high).

    v and q are those of the last policy. `iterations` is negative if a policy on the way never ends (gamma = 1).
    """
    work = np.empty((len(v), len(v)))
    low, high = backup(m, v, q)
    improve(q, pi, -np.inf)
    for n in range(1, limit + 1):
        if not eliminate(m, pi, v, work):
            return -n, low, high
        low, high = backup(m, v, q)
        if converged(m, v, low, high, target) or improve(q, pi, 4.0 * rounding_error(m, v)) == 0:
            return n, low, high
    return limit, low, high
