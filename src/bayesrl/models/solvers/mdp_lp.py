"""The linear program of an MDP (d'Epenoux 1963; Puterman 1994, section 6.9; survey §2.2).

V* is the smallest V with V(s) >= R(s, a) + gamma sum_s' P(s'|s, a) V(s') for all s and a. HiGHS solves this program.
The method is rarely the fastest, but it is independent of the others, and it can be extended by constraints.

Deviations: near discount 1 the coefficients of V in a row add up to 1 - gamma, and HiGHS leaves out those below 1e-9.
The program is then written in gains and differences, as for average rewards (Puterman 1994, section 9.3), and its
values are only nearly optimal. If episodes end, it is not, and beyond 1 - 1e-9 `NotConverged` may say that HiGHS gave
up. HiGHS satisfies the constraints only to 1e-7. Policy iteration therefore starts from its values. It usually
evaluates one policy, that of the program, and finds no better one.
Cost: a program with S variables and S A rows; near discount 1 twice as many.
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from numpy.random import Generator
from scipy import sparse

from bayesrl.checks import Floats
from bayesrl.errors import NotConverged
from bayesrl.kernels.dynamic_programming.bellman import Model
from bayesrl.models.mdp import Problem
from bayesrl.models.solution import Iterate, Solution
from bayesrl.models.solvers.policy_iteration import policy_iteration
from bayesrl.parameters import Above, declared
from bayesrl.registry import register

NEAR_ONE = 1e-6
"""With a smaller 1 - gamma the program is written in gains and differences."""
GAIN = 1e4
"""The cost of a gain there, in units of that of a difference. HiGHS then gave up none of 1000 problems."""


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
        from bayesrl.models.solve import solve_by  # which imports this file

        return solve_by(problem, linear_programming, "mdp-lp", self.tol)


def linear_programming(m: Model, v: Floats | None, target: float) -> Iterate:
    """Solve the program, then improve its policy by policy iteration."""
    return policy_iteration(m, program(m), target)


def program(m: Model) -> Floats:
    """Solve min sum V subject to (gamma P - I) V <= -R by HiGHS."""
    S, A, K = m.succ.shape
    row = np.arange(S * A)
    if len(m.matrix):
        P = sparse.csr_array(m.matrix)
    else:
        P = sparse.csr_array((m.prob[m.group].ravel(), (np.repeat(row, K), m.succ.ravel())), shape=(S * A, S))
    own = sparse.csr_array((np.ones(S * A), (row, row // A)), shape=(S * A, S))
    if m.shiftable and 0.0 < 1.0 - m.gamma < NEAR_ONE:
        return _near_one(m, P, own)
    return _minimised(m, np.ones(S), m.gamma * P - own, -m.r.ravel(), (None, None))


def _near_one(m: Model, P: Any, own: Any) -> Floats:
    """Solve the same program with V = g / (1 - gamma) + h, where g >= P g, g + h >= R + gamma P h and h >= 0.

    Every such V satisfies the program's rows. Every V that satisfies them is of this form, with the smallest reward as
    g. HiGHS sees coefficients of order one, since rewards are scaled to [0, 1]. It gives up some problems with
    large costs. So the cost of g is GAIN, not 1 / (1 - gamma), and the values are only nearly the smallest.
    """
    S, low = len(m.r), float(m.r.min())
    scale = float(m.r.max()) - low or 1.0
    lhs = sparse.csr_array(sparse.bmat([[P - own, None], [-own, m.gamma * P - own]], format="csc"))
    rhs = np.append(np.zeros(m.r.size), (low - m.r.ravel()) / scale)
    cost = np.repeat([GAIN, 1.0], S)
    bounds = np.repeat([[0.0, 1.0], [0.0, np.inf]], S, axis=0)
    g, h = _minimised(m, cost, lhs, rhs, bounds).reshape(2, S)
    return (low + scale * g) / (1.0 - m.gamma) + scale * h


def _minimised(m: Model, cost: Floats, lhs: Any, rhs: Floats, bounds: Any) -> Floats:
    """The solution of min cost x subject to lhs x <= rhs."""
    from scipy.optimize import linprog  # slow to load, and rarely wanted

    found = linprog(cost, A_ub=lhs, b_ub=rhs, bounds=bounds)
    if found.x is None:
        high, low = (end / max(1.0 - m.gamma, 1e-300) for end in (max(m.r.max(), 0.0), min(m.r.min(), 0.0)))
        budget = f"one linear program, which HiGHS gave up ({found.message.split(' (')[0]})"
        raise NotConverged("mdp-lp", np.full(len(m.r), high), float(high - low), budget)
    return np.array(found.x)
