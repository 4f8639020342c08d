"""Run an algorithm on a problem: check the arguments, and bound the error of the solution."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from bayesrl.checks import Floats, array, number
from bayesrl.errors import InvalidArgument, NotConverged
from bayesrl.kernels import ties
from bayesrl.kernels.dynamic_programming.bellman import Model, backup, rounding_error
from bayesrl.models.mdp import TabularMDP
from bayesrl.models.policy import TabularPolicy
from bayesrl.models.reading import Problem, mdp_of
from bayesrl.models.solution import Solution, bound_of, contraction, first_best, model_of
from bayesrl.models.solvers.episodic import collapse, ending_bound, optimal_policy, policy_to_the_end
from bayesrl.models.solvers.evaluation import evaluate


class Iterate(NamedTuple):
    """The last values of an algorithm."""

    values: Floats
    q: Floats
    """One backup of the values."""
    low: float
    high: float
    """The extremes of max_a q - values."""
    iterations: int


Algorithm = Callable[[Model, Floats | None, float], Iterate]
"""A function of a model, initial values or None (they may be overwritten), and the target of the residual."""


def solve_by(
    problem: Problem,
    algorithm: Algorithm,
    method: str,
    tol: float = 1e-9,
    initial: ArrayLike | None = None,
    bonus: ArrayLike | None = None,
) -> Solution:
    """Run an algorithm on a problem and bound the error of its solution."""
    mdp = mdp_of(problem)
    S, A = mdp.group.shape
    tol = number("solve", "tol", tol, 0.0, above=True)
    extra = None if bonus is None else array("solve", "bonus", bonus, (S, A))
    v = None if initial is None else array("solve", "initial", initial, (S,)).copy()
    if mdp.gamma == 1.0:
        return solve_undiscounted(mdp, algorithm, method, tol, v, extra)
    m = model_of(mdp, extra)
    if v is not None and not m.shiftable:
        v[mdp.outcomes.terminal] = 0.0
    rate = contraction(m)
    v, q, low, high, iterations = algorithm(m, v, tol * rate)
    rounding = rounding_error(m, v)
    bound = bound_of(rate, rounding, low, high)
    policy = TabularPolicy.unchecked(first_best(q, bound), A)
    solution = Solution(v, q, policy, bound, iterations, method)
    if not (math.isfinite(bound) and rate * bound <= max(rate * tol, 3.0 * rounding)):
        raise NotConverged(method, solution, bound, f"{iterations} iterations")
    return solution


def solve_undiscounted(
    mdp: TabularMDP, algorithm: Algorithm, method: str, tol: float, v: Floats | None, bonus: Floats | None
) -> Solution:
    """Do the same for discount 1, on the collapsed model and with its own bound (see `episodic.py`)."""
    m = model_of(mdp, bonus)
    small, label, stop = collapse(m)
    start = evaluate(small, policy_to_the_end(small))  # values of some policy
    if start is None:
        raise InvalidArgument("solve", "problem", "one whose ends have probabilities above 1e-16", "smaller ones")
    if v is not None:
        start[label] = np.where((small.size[small.group] == 0).all(axis=1)[label], 0.0, v)
    target, total = 0.01 * tol, 0
    for _ in range(5):
        start, q, low, high, iterations = algorithm(small, start, target)
        bound, total = ending_bound(small, start, q, low, high), total + iterations
        if bound <= tol or not np.isfinite(bound):
            break
        target = min(target, max(high, -low)) * 0.5 * tol / bound
    values = start[label]
    q = np.empty(m.r.shape)
    backup(m, values, q)
    slack = 2.0 * bound if np.isfinite(bound) else 0.0
    tied = (q >= q.max(axis=1, keepdims=True) - slack) | ties.tied(q)
    ended = (small.size[small.group] == 0).all(axis=1) | (stop & (start <= slack))
    policy = TabularPolicy.unchecked(optimal_policy(m, tied, ended[label]), m.r.shape[1])
    solution = Solution(values, q, policy, bound, total, method)
    rounding = np.isfinite(bound) and max(high, -low) <= 4.0 * rounding_error(small, start)  # only rounding is left
    if not (rounding or bound <= max(tol, 1e-12 * (1.0 + np.abs(values).max()))):
        raise NotConverged(method, solution, bound, f"{total} iterations")
    return solution
