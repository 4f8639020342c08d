"""Branch and bound in the Bayes-adaptive POMDP (Png and Pineau 2011; survey §4.9).

Forward search with pruning: actions are tried in the order of an upper bound on their value, and left out once the
bound is at most the best value found. The values are those of `bapomdp-forward-search`.

- `naive`: the value of d decisions is between the discounted sums of d smallest and d largest rewards.
- `optimistic`: if states were seen, values would be higher. From a root hyper-state with counts phi, after n more steps
  the mean of a row is (phi + e) / (phi_0 + |e|) for some e >= 0 of sum at most n. So
  U_d(s) = max_a max_j sum_k (phi_k + n 1[k = j]) / (phi_0 + n) [r_k + gamma U_{d-1}(s_k)], n = depth - d,
  bounds the value of d decisions (that is the bound of `branch-and-bound`). The mean of U_d(s) over the branches of a
  node bounds the node's value. The lower bound takes the worst j and *one action* for all d decisions, since an agent
  that does not see the state cannot choose its action by it: max_a of the mean of L^a_d(s).

QMDP of the mean model is no bound, since outcomes of one row are correlated. It can be a leaf.

Paper to code: the recursion is `value_of`; the bounds are tables made by `naive` and `extremes`.
Deviations: the paper's bounds are those of the mean model. An action is also abandoned between its observations, as
soon as the bounds of those that remain cannot lift it. The root is not pruned: every root value is exact. Ties are
broken at random.
Cost: at most forward search's, and O(depth S A K) for the bounds of each root hyper-state.
Claims: the values of forward search at every depth with no more nodes; the bounds bracket them.
"""

from __future__ import annotations

from typing import Annotated, Literal, NamedTuple

import numpy as np
from numpy.random import Generator

from bayesrl.bapomdp._hyper_search import (
    HyperSearchNeeds,
    SearchesHyperStates,
    compiled,
    expected,
    leaf_value,
    leaf_values,
)
from bayesrl.beliefs.pomdp.hyper_states import KEYS, Branches, HyperStates, Rows, counts_in, roots, step
from bayesrl.core import Decision, Transition
from bayesrl.kernels.arrays import F1, F2, F3, F4, I1
from bayesrl.kernels.jit import njit
from bayesrl.kernels.simulators.simulator import borrowed
from bayesrl.kernels.ties import any_best
from bayesrl.parameters import AtLeast, declared
from bayesrl.registry import register


@register(
    "bapomdp-branch-and-bound",
    kind="planner",
    survey="4.9",
    paper="png11",
    example=lambda: BAPOMDPBranchAndBound(depth=2),
    evidence=(
        "tests/bapomdp/test_bapomdp_search.py::test_branch_and_bound_has_the_same_values_with_no_more_nodes",
        "tests/bapomdp/test_bapomdp_search.py::test_bounds_bracket_the_values",
    ),
)
@declared
class BAPOMDPBranchAndBound(SearchesHyperStates):
    """Search over histories of an unknown POMDP with pruning.

    Examples
    --------
    The values are those of forward search, with fewer nodes.

    >>> import bayesrl as b
    >>> from numpy.random import default_rng
    >>> belief = b.beliefs.ExactBAPOMDP(b.make_world("tiger", wrong=-20.0).model_prior())
    >>> pruned, full = (
    ...     planner.plan(belief, -1, None, default_rng(0)).info
    ...     for planner in (BAPOMDPBranchAndBound(depth=4), b.make("bapomdp-forward-search", depth=4))
    ... )
    >>> bool(abs(pruned["q"] - full["q"]).max() < 1e-12), pruned["nodes"] < full["nodes"]
    (True, True)
    """

    depth: Annotated[int, AtLeast(1), "Decisions looked ahead, D."] = 3
    bound: Annotated[
        Literal["naive", "optimistic"],
        "Bounds from the range of rewards, or from states that are seen and counts added to extreme outcomes.",
    ] = "optimistic"

    def plan(
        self, belief: HyperSearchNeeds, observation: int, memory: None, rng: Generator, last: Transition | None = None
    ) -> Decision:
        """Search; `lower` and `upper` are the bounds on the root's actions before the search."""
        m, h = compiled(self, belief)
        leaf = leaf_values(self, belief, self.leaf)
        if self.bound == "naive":
            bounds = naive(m, self.depth, belief.gamma, leaf)
        else:
            bounds = extremes(m, h, self.depth, belief.gamma, leaf)
        q, lower, upper, nodes = search(m, h, self.depth, belief.gamma, leaf, belief.n_observations, *bounds)
        info = {"q": q, "lower": lower, "upper": upper, "nodes": int(nodes)}
        return Decision(any_best(q, rng), None, info)


# Bounds --------------------------------------------------------------------------------------------------------------


def naive(m: Rows, D: int, gamma: float, leaf: F2) -> tuple[F4, F3]:
    """Lower (1, D + 1, S, A) and upper (1, D + 1, S) bounds of d decisions: discounted sums of extreme rewards."""
    (S, A), ends = m.move.shape, bool(m.terminal.any())
    low, high = np.zeros((1, D + 1, S, A)), np.zeros((1, D + 1, S))
    l = u = 0.0
    if leaf.size:
        low[0, 0], high[0, 0] = leaf, leaf.max(axis=1)
        l, u = float(leaf[~m.terminal].min(axis=0).max()), float(leaf[~m.terminal].max())  # one action in all states
    least, most = float(m.reward.min()), float(m.reward.max())  # rewards in terminal states are 0
    for d in range(1, D + 1):
        l, u = (min(l, 0.0), max(u, 0.0)) if ends else (l, u)
        l, u = least + gamma * l, most + gamma * u
        low[0, d], high[0, d] = l, u
    low[:, :, m.terminal], high[:, :, m.terminal] = 0.0, 0.0
    return low, high


@njit
def extremes(m: Rows, h: HyperStates, D: int, gamma: float, leaf: F2) -> tuple[F4, F3]:
    """Lower (N, D + 1, S, A) and upper (N, D + 1, S) bounds, given the counts of each root hyper-state."""
    m, h = borrowed(m), borrowed(h)
    (S, A), N, W = m.move.shape, len(h.weight), m.alpha.shape[1]
    low, high = np.zeros((N, D + 1, S, A)), np.zeros((N, D + 1, S))
    x, z, none = np.empty(W), np.empty(W), np.empty(0, np.int64)
    for i in range(N):
        for s in range(S):
            if leaf.shape[0] > 0 and not m.terminal[s]:
                low[i, 0, s], high[i, 0, s] = leaf[s], leaf[s].max()
        for d in range(1, D + 1):
            for s in range(S):
                if m.terminal[s]:
                    continue
                high[i, d, s] = -np.inf
                for a in range(A):
                    g = m.move[s, a]
                    moves = counts_in(m, h, i, none, g, x)
                    l, u, worst, best = 0.0, 0.0, np.inf, -np.inf
                    for k in range(m.size[g]):
                        if x[k] == 0.0:
                            continue
                        y = m.succ[s, a, k]
                        r = m.show[y, a]
                        shows = counts_in(m, h, i, none, r, z)
                        least, most = extreme_rewards(m, s, a, y, r, z, shows, float(D - d))
                        v, w = least + gamma * low[i, d - 1, y, a], most + gamma * high[i, d - 1, y]
                        l, u = l + x[k] * v, u + x[k] * w
                        worst, best = min(worst, v), max(best, w)
                    n = float(D - d) if m.learnt[g] else 0.0
                    low[i, d, s, a] = (l + n * worst) / (moves + n)
                    high[i, d, s] = max(high[i, d, s], (u + n * best) / (moves + n))
    return low, high


@njit
def extreme_rewards(m: Rows, s: int, a: int, y: int, r: int, z: F1, shows: float, n: float) -> tuple[float, float]:
    """The smallest and the largest mean reward of a move to y, after n more entries of row r with counts z."""
    to = y if m.reward.shape[2] > 1 else 0
    if m.reward.shape[3] == 1:
        return m.reward[s, a, to, 0], m.reward[s, a, to, 0]
    mean, worst, best = 0.0, np.inf, -np.inf
    for j in range(m.size[r]):
        if z[j] > 0.0:
            paid = m.reward[s, a, to, m.observation[y, a, j]]
            mean += z[j] * paid
            worst, best = min(worst, paid), max(best, paid)
    n = n if m.learnt[r] else 0.0
    return (mean + n * worst) / (shows + n), (mean + n * best) / (shows + n)


@njit
def lower_bound(e: Branches, low: F4, d: int) -> float:
    """max_a of the sum of w L^a_d(s)."""
    q = np.zeros(low.shape[3])
    for i in range(len(e.weight)):
        q += e.weight[i] * low[e.root[i] if low.shape[0] > 1 else 0, d, e.state[i]]
    return q.max()


@njit
def upper_bound(e: Branches, high: F3, d: int) -> float:
    """The sum of w U_d(s)."""
    total = 0.0
    for i in range(len(e.weight)):
        total += e.weight[i] * high[e.root[i] if high.shape[0] > 1 else 0, d, e.state[i]]
    return total


# The search ----------------------------------------------------------------------------------------------------------


class HyperSearch(NamedTuple):
    """Constants of a search."""

    gamma: float
    leaf: F2  # (S, A) Q after the last decision, or empty
    Z: int
    low: F4
    high: F3
    ahead: F3  # (D + 1, 1 or N, S) gamma U_d
    nodes: I1  # (1,) histories searched


@njit
def search(
    m: Rows, h: HyperStates, D: int, gamma: float, leaf: F2, Z: int, low: F4, high: F3
) -> tuple[F1, F1, F1, int]:
    """(Q_D(b, a) of each action, lower and upper bounds before the search, histories searched)."""
    t = HyperSearch(gamma, leaf, Z, low, high, gamma * high.transpose(1, 0, 2).copy(), np.ones(1, np.int64))
    e, A = roots(h, 2 * D, len(m.mix)), m.move.shape[1]
    for i in range(len(e.key)):  # bounds belong to roots: branches of different roots must not merge
        e.key[i] = (e.key[i] + i) % KEYS
    q: F1 = np.empty(A)
    lower: F1 = np.empty(A)
    upper: F1 = np.empty(A)
    for a in range(A):
        q[a] = lower[a] = expected(m, h, e, a, np.empty((0, 0)))
        upper[a] = expected(m, h, e, a, t.ahead[D - 1])
        for o in range(Z):
            new = step(m, h, e, a, o, False)
            if len(new.weight) > 0:
                lower[a] += gamma * lower_bound(new, low, D - 1)
                q[a] += gamma * value_of(m, h, new, D - 1, t, -np.inf)
    return q, lower, upper, t.nodes[0]


@njit
def value_of(m: Rows, h: HyperStates, e: Branches, d: int, t: HyperSearch, floor: float) -> float:
    """V_d(b), times the weight of the branches, if it exceeds floor; else floor."""
    if d == 0:
        return leaf_value(e, t.leaf)
    t.nodes[0] += 1
    x = np.empty(m.move.shape[1])
    for a in range(len(x)):
        x[a] = expected(m, h, e, a, t.ahead[d - 1])
    best = max(floor, lower_bound(e, t.low, d))
    while True:
        a = int(np.argmax(x))
        if not x[a] > best:
            return best
        if d == 1 and t.leaf.shape[0] == 0:  # at the last decision bounds are values
            return x[a]
        q = x[a]  # observations that were searched count by their values, others by their bounds
        for o in range(t.Z):
            new = step(m, h, e, a, o, False)
            if len(new.weight) == 0:
                continue
            q -= t.gamma * upper_bound(new, t.high, d - 1)
            need = (best - q) / t.gamma if t.gamma > 0.0 else -np.inf  # the action can be best only above this
            v = value_of(m, h, new, d - 1, t, need)
            q += t.gamma * v
            if v <= need:
                break
        else:
            best = max(best, q)
        x[a] = -np.inf
