"""Linear programming on the sampled hyper-state tree (Castro, Precup 2007; survey §4.5).

Trajectories of hyper-states are sampled from the present one, with random actions and outcomes from the posterior
predictive. The hyper-states on them form a tree. Its values are the smallest that satisfy every Bellman inequality: a
linear program with one variable for each hyper-state. Hyper-states outside the tree (after the last decision, and after
outcomes that no trajectory drew) have the value of their physical state under Q-learning on the real transitions.

    min sum_x V(x),   V(x) >= sum_k P(k | x, a) [ r_k + gamma ( V(x_k) if x_k is in the tree, else max_b Q(s_k, b) ) ]

Paper to code: the sampling is `grow`, the program `solve_program`, Q-learning `learned` (that of bamcp.py). The
survey's table has the program at the leaves; in fact it is in the tree, with Q-learning at the fringe (ERRATA 22).
Deviations: all outcomes of a hyper-state are weighted by the posterior predictive, drawn or not, so values are exact
given their fringe. A hyper-state is a history, so histories with equal counts are separate variables. The paper solves
every few steps; here the program is solved at every decision. The belief may also be a sparse Dirichlet. Terminal
states have value zero. Ties are broken at random.
No parameter is in units of reward: trajectories choose their actions uniformly at random.
Cost: O(simulations x depth x A K) and a sparse program with one variable and A rows for each hyper-state.
Claims: the program's values are those of backward induction on the same tree; with enough trajectories they are
exact_q's with the fringe's values at the leaves.
"""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np
from numpy.random import Generator
from scipy import sparse
from scipy.optimize import linprog

from bayesrl.bamdp._checks import state_in
from bayesrl.bamdp.search._lookahead import counts_of
from bayesrl.bamdp.search.bamcp import learned
from bayesrl.beliefs.choices import best_action
from bayesrl.capabilities import Enumerates
from bayesrl.checks import Floats
from bayesrl.core import Decision, Transition
from bayesrl.errors import BayesRLError, InvalidArgument
from bayesrl.facets import Differs, Facets
from bayesrl.kernels.arrays import F1, F2, F3, I2, I3
from bayesrl.kernels.jit import njit
from bayesrl.kernels.simulators.counts import Counts, add, branches, draw_outcome, read_outcome
from bayesrl.kernels.simulators.simulator import borrowed
from bayesrl.parameters import PROBABILITY, AtLeast, declared
from bayesrl.registry import register


@register(
    "hmdp",
    kind="planner",
    survey="4.5",
    paper="Castro07LPBAMDP",
    example=lambda: HMDP(simulations=4, depth=2),
    facets=Facets(
        depth="fixed d",
        actions="a ~ rand()",
        successors=Differs(
            "s' ~ Pr(s'|s,a,phi)",
            here="s' ~ Pr(s'|s,a,phi) in the tree, all s' in the program",
            why="The tree is sampled; the program weighs all outcomes of its nodes by the posterior predictive.",
        ),
        posterior="re-sample at node",
        solution=Differs(
            "backups in tree, Q by LP at leaves",
            here="Q by LP in tree, Q-learning at leaves",
            why="The linear program is in the tree, and Q-learning is at its fringe (ERRATA 22).",
        ),
        guarantee="not known",
        in_survey=True,
    ),
    evidence=(
        "tests/bamdp/test_convergence.py::test_root_values_approach_the_exact_ones",
        "tests/bamdp/search/test_enumerating_search.py::test_program_equals_backward_induction",
        "tests/bamdp/search/test_enumerating_search.py::test_many_trajectories_give_the_exact_values",
        "tests/bamdp/search/test_enumerating_search.py::test_tree_is_sampled_like_a_naive_transcription",
    ),
)
@declared
class HMDP:
    """A sampled tree of hyper-states solved by linear programming, with Q-learning at the fringe.

    Examples
    --------
    `nodes` is the number of hyper-states in the program.

    >>> import bayesrl as b
    >>> from numpy.random import default_rng
    >>> prior = b.DirichletMDP.structured(b.make_world("chain-tied"))
    >>> decision = HMDP(simulations=20, depth=3).plan(prior, 0, None, default_rng(0))
    >>> decision.action in (0, 1), decision.info["nodes"] > 5
    (True, True)
    """

    simulations: Annotated[int, AtLeast(1), "Trajectories sampled per decision."] = 40
    depth: Annotated[int, AtLeast(1), "Decisions of a trajectory, d."] = 4
    fringe_rate: Annotated[float, PROBABILITY, "Learning rate of the fringe's Q-table."] = 0.1

    needs: ClassVar[tuple[type, ...]] = (Enumerates,)

    def start(self) -> Floats | None:
        """No Q-table yet."""
        return None

    def plan(
        self,
        belief: Enumerates,
        observation: int,
        memory: Floats | None,
        rng: Generator,
        last: Transition | None = None,
    ) -> Decision:
        """Sample the tree, solve the program, and take the best action of the root."""
        s, m = state_in("HMDP", belief, observation), counts_of(self, belief, self.depth)
        shape = (belief.n_states, belief.n_actions)
        Q = np.zeros(shape) if memory is None else memory
        if np.shape(Q) != shape:
            raise InvalidArgument("HMDP", "memory", f"values of shape {shape}, as its decisions give them", memory)
        Q = learned(Q, last, belief.gamma, self.fringe_rate)
        if m.terminal[s]:
            q, nodes = np.zeros(belief.n_actions), 0
        else:
            child, p, y, r = grow(rng, m, s, self.simulations, self.depth)
            fringe = np.where(m.terminal, 0.0, Q.max(axis=1))[y]
            V, nodes = solve_program(child, p, r, fringe, belief.gamma), len(child)
            later = np.where(child[0] >= 0, V[child[0]], fringe[0])
            q = (p[0] * (r[0] + belief.gamma * later)).sum(axis=1)
        return Decision(best_action(q, "random", rng), Q, {"q": q, "nodes": nodes})


def solve_program(child: I3, p: F3, reward: F3, fringe: F3, gamma: float) -> F1:
    """V of each hyper-state x, (N,), by HiGHS; the arguments describe its outcomes, (N, A, E)."""
    N, A, _ = child.shape
    inside = child >= 0
    r = (p * (reward + gamma * np.where(inside, 0.0, fringe))).sum(axis=2)
    x, a, e = np.nonzero(inside)
    later = sparse.csr_array((gamma * p[x, a, e], (x * A + a, child[x, a, e])), shape=(N * A, N))
    row = np.arange(N * A)
    own = sparse.csr_array((np.ones(N * A), (row, row // A)), shape=(N * A, N))
    found = linprog(np.ones(N), A_ub=later - own, b_ub=-r.ravel(), bounds=(None, None), method="highs")
    if found.x is None:
        raise BayesRLError(f"HMDP: the program has no solution: {found.message}")
    return np.array(found.x)


@njit
def grow(rng: Generator, m: Counts, s0: int, n: int, D: int) -> tuple[I3, F3, I3, F3]:
    """Sample n trajectories; return the outcomes of their hyper-states before the last decision.

    The result is (child[x, a, e] or -1, P(e | x, a), next state, reward), each (N, A, E).
    """
    m = borrowed(m)
    N, A, E = n * (D - 1) + 1, m.group.shape[1], m.succ.shape[2] * max(len(m.values), 1)
    child, p = np.full((N, A, E), -1, np.int64), np.zeros((N, A, E))
    y, r, state = np.zeros((N, A, E), np.int64), np.zeros((N, A, E)), np.empty(N, np.int64)
    state[0], nodes = s0, 1
    predict(m, s0, p[0], y[0], r[0])
    path_s, path_a, path_e = np.empty(D, np.int64), np.empty(D, np.int64), np.empty(D, np.int64)
    for _ in range(n):
        x, t = 0, 0
        while t < D - 1:
            s, a = state[x], int(rng.random() * A)
            e = draw_outcome(m, s, a, rng)
            if m.terminal[y[x, a, e]]:
                break
            add(m, s, a, e, 1.0)
            path_s[t], path_a[t], path_e[t] = s, a, e
            t += 1
            if child[x, a, e] < 0:
                child[x, a, e], state[nodes] = nodes, y[x, a, e]
                predict(m, state[nodes], p[nodes], y[nodes], r[nodes])
                nodes += 1
            x = child[x, a, e]
        for u in range(t):
            add(m, path_s[u], path_a[u], path_e[u], -1.0)
    return child[:nodes], p[:nodes], y[:nodes], r[:nodes]


@njit
def predict(m: Counts, s: int, p: F2, y: I2, r: F2) -> None:
    """Fill in the outcomes of the hyper-state (s, phi); `m` holds phi."""
    for a in range(m.group.shape[1]):
        for e in range(branches(m, s, a)):
            p[a, e], y[a, e], r[a, e] = read_outcome(m, s, a, e)
