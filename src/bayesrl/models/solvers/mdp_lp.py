"""The linear program of an MDP (d'Epenoux 1963; Puterman 1994, section 6.9; survey §2.2).

V* is the smallest V with V(s) >= R(s, a) + gamma sum_s' P(s'|s, a) V(s') for all s and a. HiGHS solves this program.
The method is rarely the fastest, but it is independent of the others, and it can be extended by constraints.

Deviations: near discount 1 the coefficients of V in a row add up to 1 - gamma, and HiGHS leaves out those below 1e-9.
One variable is then the gain (1 - gamma) V(0), and the others are differences from V(0). If states that never meet have
gains of their own, or if episodes end, this does not help beyond 1 - 1e-9, and `NotConverged` says so. HiGHS satisfies
the constraints only to 1e-7. Policy iteration therefore starts from its values. It usually evaluates one policy, that
of the program, and finds no better one.
Cost: a program with S variables and S A rows.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
from numpy.random import Generator
from scipy import sparse

from bayesrl.checks import Floats
from bayesrl.errors import NotConverged
from bayesrl.kernels.dynamic_programming.bellman import Model
from bayesrl.models.reading import Problem
from bayesrl.models.solution import Solution
from bayesrl.models.solvers.driver import Iterate, solve_by
from bayesrl.models.solvers.policy_iteration import policy_iteration
from bayesrl.parameters import Above, declared
from bayesrl.registry import register

NEAR_ONE = 1e-6
"""With a smaller 1 - gamma the program is solved in other variables."""


@register(
    "mdp-lp",
    kind="solver",
    survey="2.2",
    paper="Puterman94MD",
    evidence=(
        "tests/models/solvers/test_solvers.py::test_registered_solvers",
        "tests/models/solvers/test_solvers.py::test_every_solver_finds_the_best_policy",
        "tests/models/solvers/test_solvers.py::test_the_program_alone_is_right",
    ),
)
@declared
class LinearProgram:
    """Solve a known MDP by linear programming: the smallest values that satisfy every Bellman inequality.

    Examples
    --------
    >>> from bayesrl.registry import make_world
    >>> LinearProgram().solve(make_world("chain")).values.round(2).tolist()
    [61.38, 64.89, 69.51, 75.59, 83.59]
    """

    tol: Annotated[float, Above(0), "How far the values may be from the optimum."] = 1e-9

    def solve(self, problem: Problem, rng: Generator | None = None) -> Solution:
        """The optimum of a known MDP."""
        return solve_by(problem, linear_programming, "mdp-lp", self.tol)


def linear_programming(m: Model, v: Floats | None, target: float) -> Iterate:
    """Solve the program, then improve its policy by policy iteration."""
    return policy_iteration(m, program(m), target)


def program(m: Model) -> Floats:
    """Solve min sum V subject to (gamma P - I) V <= -R by HiGHS.

    Near discount 1, where nothing ends, the variables are g = (1 - gamma) V(0) and h(s) = V(s) - V(0). In every row g
    has coefficient 1.
    """
    from scipy.optimize import linprog  # slow to load, and rarely wanted

    S, A, K = m.succ.shape
    row = np.arange(S * A)
    if len(m.matrix):
        P = sparse.csr_array(m.matrix)
    else:
        P = sparse.csr_array((m.prob[m.group].ravel(), (np.repeat(row, K), m.succ.ravel())), shape=(S * A, S))
    own = sparse.csr_array((np.ones(S * A), (row, row // A)), shape=(S * A, S))
    lhs, cost, shifted = m.gamma * P - own, np.ones(S), m.shiftable and 0.0 < 1.0 - m.gamma < NEAR_ONE
    if shifted:
        lhs = sparse.csr_array(sparse.hstack([np.full((S * A, 1), -1.0), lhs[:, 1:]], format="csc"))
        cost[0] = S / (1.0 - m.gamma)
    method = "highs-ipm" if shifted else "highs"  # the simplex method gives up some with so large a cost
    found = linprog(cost, A_ub=lhs, b_ub=-m.r.ravel(), bounds=(None, None), method=method)
    if found.x is None:
        high, low = (end / max(1.0 - m.gamma, 1e-300) for end in (max(m.r.max(), 0.0), min(m.r.min(), 0.0)))
        budget = f"one linear program, which HiGHS gave up ({found.message.split(' (')[0]})"
        raise NotConverged("mdp-lp", np.full(S, high), float(high - low), budget)
    v = np.array(found.x)
    return np.append(0.0, v[1:]) + v[0] / (1.0 - m.gamma) if shifted else v
