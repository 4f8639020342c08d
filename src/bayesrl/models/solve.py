"""Solve a known MDP by one of the exact solvers, or a known POMDP.

    solve(world)                              # the fastest method for the problem
    solve(mdp, tol=1e-6, initial=before)      # less accurate, from the values of a similar problem
    solve(mdp, bonus=beta / (1 + counts))     # with an exploration bonus on the rewards
    solve(mdp, method="mdp-lp")               # by linear programming
    solve(pomdp, method="perseus")            # a hidden state: alpha-vectors

`solution.error_bound` is a proven bound on max |values - V*|, rounding included.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, cast, overload

from numpy.typing import ArrayLike

from bayesrl.checks import Floats, array, choice, number
from bayesrl.errors import InvalidArgument, NotConverged
from bayesrl.kernels.dynamic_programming.bellman import Model, bound_of, converged, first_best, rounding_error
from bayesrl.models.mdp import Problem, contraction, find_mdp, mdp_of, model_of
from bayesrl.models.policy import TabularPolicy
from bayesrl.models.pomdp import POMDPProblem, TabularPOMDP, find_pomdp
from bayesrl.models.solution import Algorithm, Iterate, Solution
from bayesrl.models.solvers.episodic import solve_undiscounted
from bayesrl.models.solvers.evaluation import evaluate_policy
from bayesrl.models.solvers.finite_horizon import finite_horizon, optimal_total, policy_total
from bayesrl.models.solvers.many import solve_many
from bayesrl.models.solvers.mdp_lp import linear_programming
from bayesrl.models.solvers.modified_policy_iteration import has_short_rows, if_fast_mixing, modified_policy_iteration
from bayesrl.models.solvers.policy_iteration import TINY, policy_iteration
from bayesrl.models.solvers.value_iteration import value_iteration

if TYPE_CHECKING:
    from bayesrl.models.pomdp_solvers.alpha_vectors import AlphaVectors

__all__ = ["Solution", "evaluate_policy", "finite_horizon", "optimal_total", "policy_total", "solve", "solve_many"]

WORTH, WORTH_SHORT, WORTH_DENSE = 300, 600, 400
"""Number of sweeps that cost about as much as the linear systems of policy iteration: for successor lists, for many
short lists, and for a matrix."""


@overload  # a POMDP has the hidden MDP as `.mdp`, and comes first
def solve(  # type: ignore[overload-overlap]
    problem: POMDPProblem, tol: float | None = None, *, method: str = "auto", sweeps: int | None = None
) -> AlphaVectors: ...
@overload
def solve(
    problem: Problem,
    tol: float | None = None,
    *,
    initial: ArrayLike | None = None,
    bonus: ArrayLike | None = None,
    method: str = "auto",
) -> Solution: ...
def solve(
    problem: Problem | POMDPProblem,
    tol: float | None = None,
    *,
    initial: ArrayLike | None = None,
    bonus: ArrayLike | None = None,
    method: str = "auto",
    sweeps: int | None = None,
) -> Solution | AlphaVectors:
    """The optimal values, action values and policy of a known MDP, or of a world that has one.

    `tol` is the largest accepted error of a value; None: 1e-9. If double precision does not allow it (for values in the
    hundreds of thousands), the solution is as accurate as possible, and `error_bound` says how accurate. `initial` are
    initial values; `bonus` (S, A) is added to the expected rewards. `NotConverged` carries the best solution found.
    With discount 1 episodes must end (see `bayesrl.models.solvers.episodic`).

    The solution of a POMDP, or of a world or a filter that has one, is `AlphaVectors`, a planner. `method` is then
    "pomdp-value-iteration", "pbvi" or "perseus"; "auto" is the first for two states, and PBVI for more. `tol` and
    `sweeps`, the budget, are None for the method's own. A method that has not reached its tolerance by then raises
    `NotConverged` with its best solution, the error and the budget. `tol` bounds the error of all values in the first
    method, up to rounding; the others settle at their beliefs only (see there, and `error_bound`).

    >>> from bayesrl.models.mdp import TabularMDP
    >>> stay_or_go = TabularMDP.from_dense([[[1, 0], [0, 1]], [[0, 1], [0, 1]]], [[0, 0], [1, 1]], gamma=0.5)
    >>> solution = solve(stay_or_go)
    >>> solution.values.tolist(), solution.policy.tolist()
    ([1.0, 2.0], [1, 0])
    """
    pomdp = None if find_mdp(problem) is problem else find_pomdp(problem)
    if pomdp is not None:
        for name, given in (("initial", initial), ("bonus", bonus)):
            if given is not None:
                raise InvalidArgument("solve", name, "None for a POMDP", given)
        return solve_pomdp(pomdp, tol, method, sweeps)
    if sweeps is not None:
        raise InvalidArgument("solve", "sweeps", "None for an MDP", sweeps)
    algorithm = METHODS[choice("solve", "method", method, tuple(METHODS))]
    return solve_by(cast(Problem, problem), algorithm, method, 1e-9 if tol is None else tol, initial, bonus)


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


def solve_pomdp(pomdp: TabularPOMDP, tol: float | None, method: str, sweeps: int | None = None) -> AlphaVectors:
    """`solve` for a POMDP."""
    from bayesrl.models.pomdp_solvers.pbvi import PBVI
    from bayesrl.models.pomdp_solvers.perseus import Perseus
    from bayesrl.models.pomdp_solvers.pomdp_value_iteration import POMDPValueIteration

    two = pomdp.n_states - int(pomdp.terminal.sum()) <= 2
    solvers: dict[str, type[POMDPValueIteration | PBVI | Perseus]] = {
        "auto": POMDPValueIteration if two else PBVI,
        "pomdp-value-iteration": POMDPValueIteration,
        "pbvi": PBVI,
        "perseus": Perseus,
    }
    solver = solvers[choice("solve", "method", method, tuple(solvers))]()
    solver = solver if tol is None else replace(solver, tol=tol)
    solver = solver if sweeps is None else replace(solver, sweeps=sweeps)
    return solver.solve(pomdp)


def fastest(m: Model, v: Floats | None, target: float) -> Iterate:
    """Use sweeps if the problem mixes fast or the discount is low, otherwise (or if it is tiny) policy iteration."""
    if len(m.r) > TINY and m.gamma < 1.0:
        found = if_fast_mixing(m, v, target)
        if converged(m, found.values, found.low, found.high, target):
            return found
        sweeps = WORTH_DENSE if len(m.matrix) else WORTH_SHORT if has_short_rows(m) else WORTH
        if max(found.high, -found.low) * m.gamma**sweeps <= target:
            return modified_policy_iteration(m, found.values, target)
    return policy_iteration(m, v, target)


METHODS: dict[str, Algorithm] = {
    "auto": fastest,
    "value-iteration": value_iteration,
    "policy-iteration": policy_iteration,
    "modified-policy-iteration": modified_policy_iteration,
    "mdp-lp": linear_programming,
}
