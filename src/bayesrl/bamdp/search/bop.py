"""Bayesian optimistic planning (Fonteneau, Busoniu, Munos 2013; survey §4.5).

Best-first search over hyper-states. The value of an unexpanded hyper-state lies between r_min / (1 - gamma) and r_max /
(1 - gamma). Following the action of highest upper bound at every node gives the optimistic subtree T+. Its leaf with
the largest contribution, argmax_x P(x) gamma^depth(x), is expanded. The chosen action has the highest lower bound. The
search can be stopped at any time, its bounds are certain, and it suits problems with few outcomes.

Paper to code: the descent in `search` finds T+ and its leaf; B and nu are the upper and lower bounds of `evaluate`.
Every node stores the largest contribution of a leaf of T+ below it, so T+ is never listed.
Deviations: rewards need not lie in [0, 1] (ERRATA 36): r_min and r_max replace 0 and 1. With `depth` the bounds are
those of a finite horizon, and `leaf` gives the values after it. Ties among leaves and inner
actions go to the first; ties at the root are broken at random. The regret falls as a power of the budget, exponentially
in special cases only (ERRATA 23).
Discount 1 without `depth`: every policy must end in the mean model; a belief that need not end is refused with the
state. If no state can come back (`longest_path`), this is the most steps of an episode. The bounds are those of that
horizon, and certain. Otherwise a hyper-state is taken to lie between L min(r_min, 0) and L max(r_max, 0), L the
longest expected episode of the mean model at the root. That is certain where the model is known. Under a posterior
it is not: the mean of lengths exceeds the length of the mean model, and may be infinite, as may be the value itself.
No parameter is in units of reward: the bounds come from the belief's range of rewards.
Cost: O(nodes x their depth x A K). Claims: bounds bracket the exact values at every budget and never widen; equal to
a naive transcription that builds T+.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.random import Generator

from bayesrl.bamdp._checks import state_in
from bayesrl.bamdp.search._lookahead import Leaf, bounds_of_leaves, counts_of, leaf_values
from bayesrl.beliefs.choices import best_action
from bayesrl.capabilities import Enumerates, HasMeanMDP, HasRewardRange, offers
from bayesrl.core import Decision, Transition
from bayesrl.errors import InvalidArgument
from bayesrl.facets import Differs, Facets
from bayesrl.kernels.arrays import F1, F2, F3, I1, I3
from bayesrl.kernels.jit import njit
from bayesrl.kernels.search.search_bounds import LeafBounds, leaf_bounds
from bayesrl.kernels.simulators.counts import Counts, add, branches, read_outcome
from bayesrl.kernels.simulators.simulator import borrowed, inlined
from bayesrl.kernels.ties import better
from bayesrl.models.mdp import TabularMDP
from bayesrl.models.solvers.proper import longest_episode, longest_path, must_be_proper
from bayesrl.parameters import AtLeast, declared
from bayesrl.registry import register


class BOPNeeds(HasRewardRange, Enumerates, Protocol):
    """A belief for BOP."""


@register(
    "bop",
    kind="planner",
    survey="4.5",
    paper="fonteneau13",
    example=lambda: BOP(nodes=20),
    facets=Facets(
        depth="variable d",
        actions="argmax_a B(x,a)",
        successors="all s'",
        posterior=Differs(
            "re-sample at node",
            here="update at node",
            why="Nothing is drawn: outcomes are weighted by the posterior predictive of the node.",
        ),
        solution=Differs(
            "backups in tree, 1/(1-gamma) at leaves",
            here="backups in tree, r_max/(1-gamma) at leaves",
            why="1/(1-gamma) presumes rewards in [0, 1] (ERRATA 36).",
        ),
        guarantee="Bayes-opt. in the limit",
        in_survey=True,
    ),
    evidence=(
        "tests/bamdp/test_convergence.py::test_root_values_approach_the_exact_ones",
        "tests/bamdp/search/test_enumerating_search.py::test_bop_equals_a_naive_transcription",
        "tests/bamdp/search/test_enumerating_search.py::test_bop_bounds_bracket_the_exact_values_and_never_widen",
        "tests/bamdp/test_undiscounted.py::test_bop_brackets_a_known_model_that_comes_back",
    ),
)
@declared
class BOP:
    """Optimistic best-first search over hyper-states, with certain bounds.

    With discount 1 and no depth every policy of the mean model must end. The bounds are certain if no state can come
    back, or if the model is known; otherwise they are those of the mean model at the root.

    Examples
    --------
    More nodes give tighter bounds on the Bayes-optimal values.

    >>> import bayesrl as b
    >>> from numpy.random import default_rng
    >>> prior = b.DirichletMDP.structured(b.make_world("chain-tied"))
    >>> few, many = (BOP(nodes=n).plan(prior, 0, None, default_rng(0)).info for n in (10, 1000))
    >>> bool((many["upper"] - many["lower"] < few["upper"] - few["lower"]).all())
    True
    """

    nodes: Annotated[int, AtLeast(1), "Hyper-states expanded per decision, n."] = 500
    depth: Annotated[
        int | None, AtLeast(1), "Decisions looked ahead at most; None: no limit; discount 1 needs episodes that end."
    ] = None
    leaf: Annotated[Leaf, "The value after the last decision: zero, or the mean model's, which needs a depth."] = "zero"

    needs: ClassVar[tuple[type, ...]] = (BOPNeeds,)

    def __post_init__(self) -> None:
        if self.depth is None and self.leaf != "zero":
            raise InvalidArgument("BOP", "leaf", "zero if there is no depth", self.leaf)

    def check(self, belief: BOPNeeds) -> None:
        """Raise an error if there is neither a discount nor a depth, and episodes need not end."""
        if self.depth is None and belief.gamma == 1.0:
            must_be_proper("BOP", "belief", mean_of(belief), "Or give a depth.")

    def start(self) -> None:
        """Nothing to remember."""

    def plan(
        self, belief: BOPNeeds, observation: int, memory: None, rng: Generator, last: Transition | None = None
    ) -> Decision:
        """Search; `q` is the lower bound, by which the action is chosen."""
        s = state_in("BOP", belief, observation)
        m = counts_of(self, belief, self.depth or self.nodes)
        q, nodes = search(m, s, self._leaf_bounds(belief), self.nodes)
        lower, upper = q[:, 0].copy(), q[:, 1].copy()
        info = {"q": lower, "lower": lower, "upper": upper, "nodes": int(nodes)}
        return Decision(best_action(lower, "random", rng), None, info)

    def _leaf_bounds(self, belief: BOPNeeds) -> LeafBounds:
        """V_min and V_max with d decisions to go; without a limit no path of `nodes` nodes reaches d = 0."""
        self.check(belief)
        depth = self.nodes + 1 if self.depth is None else self.depth
        undiscounted = self.depth is None and belief.gamma == 1.0
        longest = longest_path(mean_of(belief)) if undiscounted else None
        if longest is not None:
            return bounds_of_leaves(belief.reward_range(), 1.0, longest, np.zeros(belief.n_states))
        leaf = leaf_values("BOP", belief, belief.n_states, self.leaf)
        leaves = bounds_of_leaves(belief.reward_range(), belief.gamma, depth, leaf)
        if undiscounted:
            (low, high), L = belief.reward_range(), longest_episode(mean_of(belief))
            leaves.range[:] = L * min(low, 0.0), L * max(high, 0.0)
        elif self.depth is None:
            v = leaves.range
            v[:] = (v[1] - belief.gamma * v[0]) / (1.0 - belief.gamma)
        return leaves


def mean_of(belief: BOPNeeds) -> TabularMDP:
    """The mean model, which says whether episodes end."""
    if not offers(belief, HasMeanMDP):
        raise InvalidArgument("BOP", "depth", "given if the discount is 1 and there is no mean model", None)
    return belief.mean_mdp()


class BOPTree(NamedTuple):
    """The expanded hyper-states."""

    child: I3  # (n, A, E) the node after outcome e of action a, or -1 for a leaf
    chance: F3  # (n, A, E) its probability
    q: F3  # (n, A, 2) lower and upper bound of Q(h, a)
    value: F2  # (n, 2) lower and upper bound of V(h)
    star: I1  # (n,) the optimistic action
    leaf: F1  # (n,) the largest P(x) gamma^depth(x) of a leaf x of T+ below, relative to h; 0: none


@njit
def search(m: Counts, s0: int, leaves: LeafBounds, n: int) -> tuple[F2, int]:
    """(Lower and upper bounds of the root's actions, nodes expanded)."""
    A, E, D = m.group.shape[1], m.succ.shape[2] * max(len(m.values), 1), len(leaves.range) - 1
    tree = BOPTree(
        np.full((n, A, E), -1, np.int64), np.zeros((n, A, E)), np.zeros((n, A, 2)), np.empty((n, 2)),
        np.empty(n, np.int64), np.empty(n),
    )  # fmt: skip
    if m.terminal[s0]:
        return tree.q[0], 0
    m, t, leaves = borrowed(m), borrowed(tree), borrowed(leaves)
    expand(m, t, 0, s0, D, leaves)
    path = np.empty((n, 4), np.int64)  # h, s, a, e
    nodes = 1
    while nodes < n and t.leaf[0] > 0.0:
        h, s, depth = 0, s0, 0
        while h >= 0:  # descend T+ to the largest contribution
            a = t.star[h]
            best, e = 0.0, 0
            for i in range(branches(m, s, a)):
                y = read_outcome(m, s, a, i)[1]
                w = t.chance[h, a, i] * child_bounds(m, t, t.child[h, a, i], y, D - depth - 1, leaves)[2]
                if better(w, best):
                    best, e = w, i
            path[depth, 0], path[depth, 1], path[depth, 2], path[depth, 3] = h, s, a, e
            y = read_outcome(m, s, a, e)[1]
            add(m, s, a, e, 1.0)
            depth += 1
            h, s = int(t.child[h, a, e]), y
        h, a, e = path[depth - 1, 0], path[depth - 1, 2], path[depth - 1, 3]
        t.child[h, a, e] = nodes
        expand(m, t, nodes, s, D - depth, leaves)
        nodes += 1
        for i in range(depth - 1, -1, -1):
            h, s, a, e = path[i, 0], path[i, 1], path[i, 2], path[i, 3]
            add(m, s, a, e, -1.0)
            evaluate(m, t, h, s, D - i, leaves)
    return tree.q[0], nodes


@inlined
def expand(m: Counts, t: BOPTree, h: int, s: int, d: int, leaves: LeafBounds) -> None:
    """Make node h of the hyper-state (s, phi) with d decisions to go; phi is what `m` holds now."""
    for a in range(m.group.shape[1]):
        for e in range(branches(m, s, a)):
            t.chance[h, a, e] = read_outcome(m, s, a, e)[0]
    evaluate(m, t, h, s, d, leaves)


@inlined
def evaluate(m: Counts, t: BOPTree, h: int, s: int, d: int, leaves: LeafBounds) -> None:
    """Bounds of node h, its optimistic action, and the largest contribution of a leaf below."""
    t.value[h, 0] = t.value[h, 1] = -np.inf
    t.star[h], t.leaf[h] = 0, 0.0  # unchanged if no bound is a number
    for a in range(m.group.shape[1]):
        lower, upper, leaf = 0.0, 0.0, 0.0
        for e in range(branches(m, s, a)):
            _, y, r = read_outcome(m, s, a, e)
            low, high, w = child_bounds(m, t, t.child[h, a, e], y, d - 1, leaves)
            p = t.chance[h, a, e]
            lower += p * (r + leaves.gamma * low)
            upper += p * (r + leaves.gamma * high)
            leaf = max(leaf, leaves.gamma * p * w)
        t.q[h, a, 0], t.q[h, a, 1] = lower, upper
        t.value[h, 0] = max(t.value[h, 0], lower)
        if better(upper, t.value[h, 1]):
            t.value[h, 1], t.star[h], t.leaf[h] = upper, a, leaf


@inlined
def child_bounds(m: Counts, t: BOPTree, c: int, y: int, d: int, leaves: LeafBounds) -> tuple[float, float, float]:
    """(Lower, upper, contribution of the best leaf) of node c, or of the leaf at y with d to go (c < 0)."""
    if c >= 0:
        return t.value[c, 0], t.value[c, 1], t.leaf[c]
    low, high = leaf_bounds(leaves, y, d, m.terminal[y])
    return low, high, 0.0 if d == 0 or m.terminal[y] else 1.0
