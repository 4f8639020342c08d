"""Policy iteration (Howard 1960; Puterman 1994, section 6.4; survey §2.2).

Evaluate the policy exactly, then change its action wherever another one is better; end when none is. An action is only
changed for one that is better by more than rounding can explain, so that tied policies do not go round in circles.
It takes a handful of linear systems instead of hundreds of sweeps: use it for slowly mixing problems and small ones.

Deviations: beyond a few hundred states one improvement is several Gauss-Seidel sweeps over the states in the order of
their values, so that the value of a goal reaches all states at once. Without values to start from, the first policy is
greedy for the values of acting at random, which know about every goal that can be reached.
Cost: O(S^3) for each policy, O(S) to O(S^1.5) on rings and grids.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
from numpy.random import Generator

from bayesrl.checks import Floats
from bayesrl.errors import InvalidArgument
from bayesrl.kernels.arrays import F1, F2, I1
from bayesrl.kernels.bellman import Model, backup, converged, eliminate, improve, rounding_error, sweep
from bayesrl.kernels.jit import njit
from bayesrl.models.solution import Problem, Solution
from bayesrl.models.solvers._driver import Iterate, solved
from bayesrl.models.solvers._episodic import policy_to_the_end
from bayesrl.models.solvers._evaluation import evaluate, is_small, mixture
from bayesrl.parameters import Above, AtLeast, declared
from bayesrl.registry import register

TINY = 40
"""Number of states up to which a linear system costs less than a few sweeps."""
SWEEPS = 15
"""Sweeps of one improvement at most; they end when the policy rests."""


@register(
    "policy-iteration",
    kind="solver",
    survey="2.2",
    paper="Puterman94MD",
    evidence=(
        "tests/models/test_solvers.py::test_every_solver_finds_the_best_policy",
        "tests/models/test_solvers.py::test_tied_policies_end",
    ),
)
@declared
class PolicyIteration:
    """Exact evaluation and strict improvement of policies until none is better.

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
        return solved(
            problem, lambda m, v, target: policy_iteration(m, v, target, self.policies), "policy-iteration", self.tol
        )


def policy_iteration(m: Model, v: Floats | None, target: float, policies: int = 1000) -> Iterate:
    """Iterate from the policy that is greedy for v; with gamma = 1 from one that ends."""
    S, A = m.r.shape
    q, pi = np.empty((S, A)), np.zeros(S, np.int64)
    if m.gamma == 1.0:
        pi = policy_to_the_end(m)
        v = endless_is_wrong(evaluate(m, pi))
    if v is None:
        at_random = S > TINY
        v = endless_is_wrong(evaluate(mixture(m, np.full((S, A), 1.0 / A)), pi)) if at_random else m.r.max(axis=1)
    if is_small(m):
        n, low, high = howard(m, v, q, pi, target, policies)
        if n < 0:
            endless_is_wrong(None)
        return Iterate(v, q, low, high, n)
    iterations = 0
    while iterations < policies:
        iterations += 1
        w = v.copy()
        order = np.argsort(-w)
        for _ in range(SWEEPS):
            if sweep(m, w, pi, order) == 0:
                break
        v = endless_is_wrong(evaluate(m, pi))
        low, high = backup(m, v, q)
        if high <= 4.0 * rounding_error(m, v) or converged(m, v, low, high, target):
            break
    return Iterate(v, q, low, high, iterations)


def endless_is_wrong(values: Floats | None) -> Floats:
    """The values of a policy, or an error if it has none."""
    if values is None:
        expected = "one whose rewards cannot be collected forever, as the discount is 1"
        raise InvalidArgument("solve", "problem", expected, "a policy that never ends and gains")
    return values


@njit
def howard(m: Model, v: F1, q: F2, pi: I1, target: float, limit: int) -> tuple[int, float, float]:
    """Policy iteration by elimination from the policy that is greedy for v; returns (iterations, low, high).

    v and q are those of the last policy. Iterations is negative if some policy on the way never ends (gamma = 1).
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
