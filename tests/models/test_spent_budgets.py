"""The law of budgets: a solver stops exactly when its budget is spent, and what it has by then is a solution.

The budget is spent in the middle of whatever the solver does in rounds: sets of beliefs that grow, sweeps between other
sweeps, policies. One unit short of what is needed raises `NotConverged`; what is needed is enough.
"""

from dataclasses import replace

import numpy as np
import pytest
from known_pomdps import tiger
from numpy.random import default_rng

from bayesrl.errors import NotConverged
from bayesrl.models.mdp import TabularMDP
from bayesrl.models.pomdp_solvers.pbvi import PBVI
from bayesrl.models.pomdp_solvers.perseus import Perseus
from bayesrl.models.pomdp_solvers.pomdp_value_iteration import POMDPValueIteration
from bayesrl.models.solvers.policy_iteration import PolicyIteration
from bayesrl.models.solvers.value_iteration import ValueIteration

RNG = default_rng(3)
MDP = TabularMDP.from_dense(RNG.dirichlet(np.full(6, 0.3), (6, 3)), RNG.normal(size=(6, 3)), 0.9, terminal=[5])
POMDP = tiger(gamma=0.8)
SOLVERS = {
    "value-iteration": (MDP, ValueIteration(tol=1e-4), "sweeps", 3),  # a round of sweeps is three
    "policy-iteration": (MDP, PolicyIteration(tol=1e-4), "policies", 1),
    "pbvi": (POMDP, PBVI(size=6, tol=1e-2), "sweeps", 1),
    "perseus": (POMDP, Perseus(size=6, tol=1e-2), "sweeps", 1),
    "pomdp-value-iteration": (POMDP, POMDPValueIteration(tol=1e-2), "sweeps", 1),
}


def solved(solver, problem):
    """What a solver found, and its error if the budget was too small."""
    try:
        return solver.solve(problem), None
    except NotConverged as spent:
        return spent.best, spent.residual


@pytest.mark.parametrize("name", SOLVERS)
def test_a_spent_budget_leaves_a_solution(name):
    problem, solver, field, round_of = SOLVERS[name]
    whole = solver.solve(problem)
    needed = whole.iterations
    for n in (needed, needed + 1):
        again = replace(solver, **{field: n}).solve(problem)
        assert again.iterations == needed
        for x, y in zip(values_of(again), values_of(whole), strict=True):
            np.testing.assert_array_equal(x, y)
    for n in (n for n in range(1, needed) if n < 8 or n >= needed - 2):
        best, error = solved(replace(solver, **{field: n}), problem)
        assert name == "value-iteration" or error is not None, "the budget was not needed"
        assert error is None or solver.tol < error < np.inf
        assert best.iterations < n + round_of
        assert best.iterations <= needed


def values_of(solution):
    """The arrays of a solution."""
    return (solution.vectors, solution.actions) if hasattr(solution, "vectors") else (solution.values, solution.q)
