"""Forward search in the Bayes-adaptive MDP (Ross, Chaib-draa, Pineau 2008; survey §4.5, Algorithm 1).

The tree of all hyper-states that can be reached in a few decisions is backed up by expectation over outcomes and
maximum over actions. The best action of the root is taken, and the next hyper-state is searched from scratch. The
method suits problems with few outcomes (tied or listed models). Values are Bayes-optimal for the horizon, and nothing
is sampled.

Paper to code: the recursion is `value_of`; phi' is phi with one outcome added in place and removed after the call, so
all of phi is passed on (the survey copies one row and never returns the action, ERRATA 4); V_0 is `leaf`.
Deviations: rewards may depend on the outcome. Ties are broken at random.
Cost: O((A K)^(depth - 1) A), not the survey's S^depth (ERRATA 18). Q_1 of a row that the path has not visited is summed
once per decision, O(S A K) in all. Claims: equal to exact_q at every depth, for Dirichlet counts (flat, tied, partly
known) and sparse ones.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, NamedTuple

import numpy as np
from numpy.random import Generator

from bayesrl.bamdp._checks import state_in
from bayesrl.bamdp.search._lookahead import Leaf, counts_of, leaf_values
from bayesrl.beliefs.choices import best_action
from bayesrl.capabilities import Enumerates
from bayesrl.core import Decision, Transition
from bayesrl.facets import Differs, Facets
from bayesrl.kernels.arrays import F1, I1
from bayesrl.kernels.jit import njit
from bayesrl.kernels.simulators.counts import Counts, Sums, branches, expected, follow, no_sums, read_outcome
from bayesrl.kernels.simulators.simulator import borrowed
from bayesrl.parameters import AtLeast, declared
from bayesrl.registry import register


@register(
    "forward-search",
    kind="planner",
    survey="4.5",
    paper="Ross08BAPOMDP",
    example=lambda: ForwardSearch(depth=2),
    facets=Facets(
        depth="fixed d",
        actions="all a",
        successors="all s'",
        posterior=Differs(
            "re-sample at node",
            here="update at node",
            why="Nothing is drawn: outcomes are weighted by the posterior predictive of the node.",
        ),
        solution="backups in tree, heuristic at leaves",
        guarantee="Bayes-opt. in the limit",
        in_survey=True,
    ),
    evidence=(
        "tests/bamdp/test_convergence.py::test_searches_to_the_end_are_exact",
        "tests/bamdp/search/test_enumerating_search.py::test_equal_to_exact_values_at_every_depth",
        "tests/bamdp/search/test_enumerating_search.py::test_leaves_are_the_mean_models",
    ),
)
@declared
class ForwardSearch:
    """Full expectimax search over hyper-states to a fixed depth.

    Examples
    --------
    The values are the Bayes-optimal ones of that many decisions.

    >>> import bayesrl as b
    >>> from numpy.random import default_rng
    >>> prior = b.DirichletMDP.structured(b.make_world("chain-tied"))
    >>> q = ForwardSearch(depth=3).plan(prior, 0, None, default_rng(0)).info["q"]
    >>> bool(abs(q - b.bamdp.exact_q(prior, 0, 3)).max() < 1e-12)
    True
    """

    depth: Annotated[int, AtLeast(1), "Decisions looked ahead, d."] = 4
    leaf: Annotated[Leaf, "The value V_0 after the last decision: zero, or the mean model's."] = "zero"

    needs: ClassVar[tuple[type, ...]] = (Enumerates,)

    def start(self) -> None:
        """Nothing to remember."""

    def plan(
        self, belief: Enumerates, observation: int, memory: None, rng: Generator, last: Transition | None = None
    ) -> Decision:
        """Search every future of `depth` decisions."""
        s = state_in("ForwardSearch", belief, observation)
        m, leaf = counts_of(self, belief, self.depth), leaf_values("ForwardSearch", belief, belief.n_states, self.leaf)
        q, nodes = search(m, s, self.depth, belief.gamma, leaf)
        return Decision(best_action(q, "random", rng), None, {"q": q, "nodes": int(nodes)})


class Search(NamedTuple):
    """Constants and scratch arrays of a search."""

    gamma: float
    leaf: F1  # (S,) V_0
    sums: Sums  # Q_1 of rows that the path has not visited
    nodes: I1  # (1,) hyper-states expanded


@njit
def search(m: Counts, s: int, d: int, gamma: float, V0: F1) -> tuple[F1, int]:
    """(Q_d(s, phi, a) of each action, hyper-states expanded)."""
    q, kept = np.zeros(m.group.shape[1]), Search(gamma, V0, no_sums(m, 1), np.zeros(1, np.int64))
    if not m.terminal[s]:
        kept.nodes[0] = 1
        for a in range(len(q)):
            if d == 1:
                q[a] = expected(m, kept.sums, 0, s, a, gamma, V0)
            else:
                q[a] = value_of(borrowed(m), s, a, d, borrowed(kept))
    return q, kept.nodes[0]


@njit
def value_of(m: Counts, s: int, a: int, d: int, t: Search) -> float:
    """Q_d(s, phi, a) = sum_e P(e | phi, s, a) [r_e + gamma max_b Q_{d-1}(s_e, phi + e, b)], d > 1.

    Q_1 is computed inline, since a call with all these arrays costs more than Q_1.
    """
    q = 0.0
    for e in range(branches(m, s, a)):
        p, y, r = read_outcome(m, s, a, e)
        if p == 0.0:
            continue
        v = t.leaf[y]
        if not m.terminal[y]:
            t.nodes[0] += 1
            follow(m, t.sums, s, a, e, 1.0)
            v = -np.inf
            for b in range(m.group.shape[1]):
                if d == 2:
                    v = max(v, expected(m, t.sums, 0, y, b, t.gamma, t.leaf))
                else:
                    v = max(v, value_of(m, y, b, d - 1, t))
            follow(m, t.sums, s, a, e, -1.0)
        q += p * (r + t.gamma * v)
    return q
