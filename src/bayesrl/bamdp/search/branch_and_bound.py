"""Branch and bound search in the Bayes-adaptive MDP (Paquet, Tobin, Chaib-draa 2005; survey §4.5).

Forward search with pruning: actions are tried in the order of an upper bound on their value. Once the bound of the
next action is at most the best value found, the remaining actions are pruned. The values are those of forward search;
the number of nodes depends on the bounds.

- `naive`: V_d <= sum_{i<d} gamma^i r_max in every state (and with r_min a lower bound).
- `optimistic`: after n more outcomes the predictive of a group is (phi + e) / (phi_0 + n) for some e >= 0 of sum n. So
  U_d(s) = max_a max_j sum_k (phi_k + n 1[k = j]) / (phi_0 + n) [r_k + gamma U_{d-1}(s_k)], n = depth - d, bounds V_d
  at every hyper-state with d decisions to go. The worst j gives a lower bound. These are two solves of the mean model
  with n counts added to the best and to the worst outcome, once for each decision.

Under a sparse prior one outcome changes the probabilities of all others, so the optimistic bound differs. Consider i
more outcomes of a group, of which a set B of j was not seen before. A seen outcome then has probability (alpha + n_k)
/ T, T = T(k0 + j, N + i), and each unseen outcome q = E[(k - k0 - j) alpha / (k alpha + N + i)] / (L - k0 - j), over
sizes k <= L of the support. So q <= alpha / T. With x_k = r_k + gamma U_{d-1}(s_k), each outcome in B, which occurred
at least once, adds ((alpha + 1) / T - q) x_k to the mean, with a positive factor. Hence the mean is highest if B are
the j best of the unseen outcomes and the other i - j outcomes are the best one of those seen or in B. U_d(s) is the
highest of these means over a, i <= n and j <= i (`highest_mean`), and L_d(s) = max_a of the lowest. If one outcome
almost determines the predictive, this is close to the naive bound (doors in test_convergence.py, nine decisions: 16136
nodes of 87381, with the naive bound 16203).

Paper to code: the recursion is `value_of`; its bounds are tables made by `naive` and `extremes`.
Deviations: an action is also abandoned between its outcomes, as soon as the bounds of the remaining outcomes cannot
lift it above the value it must exceed. The mean model's own value is not a bound (outcomes of one row are correlated),
so it is only used for leaves. The root is not pruned, so every root value is exact. Ties are broken at random.
Cost: at most forward search's, and O(depth S A K) for the bounds (sparse: K log K + depth (K + depth) instead of K);
for rows that the path has not visited, bounds are summed once per decision. Claims: the values of forward search at
every depth with fewer nodes; the bounds bracket them.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, NamedTuple, Protocol

import numpy as np
from numpy.random import Generator

from bayesrl.bamdp._checks import state_in
from bayesrl.bamdp.search._lookahead import Leaf, bounds_of_leaves, counts_of, leaf_values
from bayesrl.beliefs.choices import best_action
from bayesrl.capabilities import Enumerates, HasRewardRange
from bayesrl.core import Decision, Transition
from bayesrl.facets import Differs, Facets
from bayesrl.kernels.arrays import F1, F2, F3, I1
from bayesrl.kernels.jit import njit
from bayesrl.kernels.simulators.counts import (
    DRAWS,
    KINDS,
    Counts,
    Sums,
    branches,
    expected,
    follow,
    no_sums,
    read_outcome,
    total_weight,
)
from bayesrl.kernels.simulators.simulator import borrowed
from bayesrl.kernels.simulators.sparse_urn import unseen_probability
from bayesrl.parameters import AtLeast, declared
from bayesrl.registry import register


class BranchAndBoundNeeds(HasRewardRange, Enumerates, Protocol):
    """A belief for branch and bound."""


@register(
    "branch-and-bound",
    kind="planner",
    survey="4.5",
    paper="Paquet05AAMAS",
    example=lambda: BranchAndBound(depth=2),
    facets=Facets(
        depth=Differs(
            "variable d",
            here="fixed d, less where pruned",
            why="The values are those of forward search to depth d; only pruned branches end before.",
        ),
        actions="all a, except if some U(s,phi,a) < L(s,phi,a')",
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
        "tests/bamdp/search/test_enumerating_search.py::test_values_of_forward_search",
        "tests/bamdp/search/test_enumerating_search.py::test_fewer_nodes",
        "tests/bamdp/search/test_enumerating_search.py::test_bounds_bracket_the_exact_values_of_every_hyper_state",
    ),
)
@declared
class BranchAndBound:
    """Forward search over hyper-states with pruning.

    Examples
    --------
    The values are those of forward search, with fewer nodes.

    >>> import bayesrl as b
    >>> from numpy.random import default_rng
    >>> prior = b.DirichletMDP.structured(b.make_world("chain-tied"))
    >>> pruned, full = (
    ...     planner.plan(prior, 0, None, default_rng(0)).info
    ...     for planner in (BranchAndBound(depth=5), b.make("forward-search", depth=5))
    ... )
    >>> bool(abs(pruned["q"] - full["q"]).max() < 1e-12), pruned["nodes"] < full["nodes"]
    (True, True)
    """

    depth: Annotated[int, AtLeast(1), "Decisions looked ahead, D."] = 4
    bound: Annotated[
        Literal["naive", "optimistic"],
        "Bounds from the range of rewards, or from the mean model with counts added to extreme outcomes.",
    ] = "optimistic"
    leaf: Leaf = "zero"

    needs: ClassVar[tuple[type, ...]] = (BranchAndBoundNeeds,)

    def start(self) -> None:
        """Nothing to remember."""

    def plan(
        self,
        belief: BranchAndBoundNeeds,
        observation: int,
        memory: None,
        rng: Generator,
        last: Transition | None = None,
    ) -> Decision:
        """Search; `lower` and `upper` are the bounds on the root's actions before the search."""
        s = state_in("BranchAndBound", belief, observation)
        m = counts_of(self, belief, self.depth)
        leaf = leaf_values("BranchAndBound", belief, belief.n_states, self.leaf)
        if self.bound == "naive":
            bounds = naive(m, bounds_of_leaves(belief.reward_range(), belief.gamma, self.depth, leaf).range, leaf)
        else:
            bounds = extremes(m, self.depth, belief.gamma, leaf)
        q, lower, upper, nodes = search(m, s, self.depth, belief.gamma, bounds)
        info = {"q": q, "lower": lower, "upper": upper, "nodes": int(nodes)}
        return Decision(best_action(q, "random", rng), None, info)


def naive(m: Counts, reach: F2, leaf: F1) -> F3:
    """(2, D + 1, S): the smallest and the largest discounted sum of d rewards, in every state."""
    bounds = np.repeat(reach.T[:, :, None], len(leaf), axis=2)
    bounds[:, :, m.terminal] = 0.0
    bounds[:, 0] = leaf
    return bounds


@njit
def extremes(m: Counts, D: int, gamma: float, V0: F1) -> F3:
    """(2, D + 1, S): L_d(s) and U_d(s) with n = D - d outcomes added at the worst and the best place."""
    S, A = m.group.shape
    b, X, Z = np.zeros((2, D + 1, S)), np.empty(m.phi.shape[1]), np.empty(m.phi.shape[1])
    for s in range(S):
        b[0, 0, s] = b[1, 0, s] = V0[s]
    for d in range(1, D + 1):
        low, high = extreme_rewards(m, D - d)
        for s in range(S):
            if m.terminal[s]:
                continue
            b[0, d, s], b[1, d, s] = -np.inf, -np.inf
            for a in range(A):
                g = m.group[s, a]
                n = (D - d) * m.gain[g]
                l, u, worst, best = 0.0, 0.0, np.inf, -np.inf
                for k in range(m.size[g]):
                    y = m.succ[s, a, k]
                    x, z = low[s, a, k] + gamma * b[0, d - 1, y], high[s, a, k] + gamma * b[1, d - 1, y]
                    l, u = l + m.phi[g, k] * x, u + m.phi[g, k] * z
                    worst, best = min(worst, x), max(best, z)
                    X[k], Z[k] = -x, z
                l, u = (l + n * worst) / (m.total[g] + n), (u + n * best) / (m.total[g] + n)
                if m.alpha > 0.0:
                    l, u = -highest_mean(m, g, D - d, X), highest_mean(m, g, D - d, Z)
                b[0, d, s] = max(b[0, d, s], l)
                b[1, d, s] = max(b[1, d, s], u)
    return b


@njit
def highest_mean(m: Counts, g: int, n: int, x: F1) -> float:
    """The highest sum_k p_k x_k of group g of a sparse Dirichlet after at most n more outcomes."""
    k0, N, L = m.support[g, KINDS], m.support[g, DRAWS], m.size[g]
    seen, top, rest, u = 0.0, -np.inf, np.empty(L), 0
    for k in range(L):
        if m.phi[g, k] > 0.0:
            seen, top = seen + (m.alpha + m.phi[g, k]) * x[k], max(top, x[k])
        else:
            rest[u] = -x[k]
            u += 1
    rest = -np.sort(rest[:u])  # the best first
    best = -np.inf
    for j in range(min(n, u) + 1):
        if j > 0:
            seen, top = seen + (m.alpha + 1.0) * rest[j - 1], max(top, rest[j - 1])
        others = rest[j:].sum()
        for i in range(j, n + 1 if k0 + j > 0.0 else 1):
            T = total_weight(m, g, k0 + j, N + i)
            again = (i - j) * top if i > j else 0.0
            best = max(best, (seen + again) / T + unseen_probability(k0 + j, N + i, L, m.alpha, T) * others)
    return best


@njit
def extreme_rewards(m: Counts, n: int) -> tuple[F3, F3]:
    """Smallest and largest mean reward of each outcome after n more rewards, (S, A, K) each; equal if known."""
    if len(m.values) == 0:
        return m.reward, m.reward
    low, high = np.empty(len(m.pay)), np.empty(len(m.pay))
    for c in range(len(m.pay)):
        mean = 0.0
        for j in range(len(m.values)):
            mean += m.pay[c, j] * m.values[j]
        low[c] = (mean + n * m.values.min()) / (m.pay_total[c] + n)
        high[c] = (mean + n * m.values.max()) / (m.pay_total[c] + n)
    return low[m.cell.ravel()].reshape(m.cell.shape), high[m.cell.ravel()].reshape(m.cell.shape)


class Search(NamedTuple):
    """Constants and scratch arrays of a search."""

    gamma: float
    lower: F2  # (D + 1, S)
    upper: F2  # (D + 1, S)
    bound: F2  # (D + 1, A) scratch: bounds of the actions of the node with d to go
    sums: Sums  # bounds of actions whose rows the path has not visited
    nodes: I1  # (1,) hyper-states expanded


@njit
def search(m: Counts, s: int, D: int, gamma: float, bounds: F3) -> tuple[F1, F1, F1, int]:
    """(Q_D(s, phi, a) of each action, lower and upper bounds before the search, hyper-states expanded)."""
    A = m.group.shape[1]
    q, lower, upper = np.zeros(A), np.zeros(A), np.zeros(A)
    kept = Search(gamma, bounds[0], bounds[1], np.empty((D + 1, A)), no_sums(m, D), np.ones(1, np.int64))
    if m.terminal[s]:
        return q, lower, upper, 0
    for a in range(A):
        for e in range(branches(m, s, a)):
            p, y, r = read_outcome(m, s, a, e)
            v = kept.upper[0, y]
            if p > 0.0 and D > 1 and not m.terminal[y]:
                follow(m, kept.sums, s, a, e, 1.0)
                v = value_of(borrowed(m), y, D - 1, borrowed(kept), -np.inf)
                follow(m, kept.sums, s, a, e, -1.0)
            q[a] += p * (r + gamma * v)
            lower[a] += p * (r + gamma * kept.lower[D - 1, y])
            upper[a] += p * (r + gamma * kept.upper[D - 1, y])
    return q, lower, upper, kept.nodes[0]


@njit
def value_of(m: Counts, s: int, d: int, t: Search, floor: float) -> float:
    """V_d(s, phi) if it exceeds floor, else floor."""
    t.nodes[0] += 1
    x = t.bound[d]
    for a in range(len(x)):
        x[a] = expected(m, t.sums, d - 1, s, a, t.gamma, t.upper[d - 1])
    best = max(floor, t.lower[d, s])
    while True:
        a = 0
        for b in range(1, len(x)):
            if x[b] > x[a]:
                a = b
        if d == 1 or not x[a] > best:  # at the last decision bounds are values; not-a-number never exceeds
            return max(best, x[a])
        q = x[a]  # searched outcomes by their values, others by their bounds
        for e in range(branches(m, s, a)):
            p, y, _ = read_outcome(m, s, a, e)
            weight = t.gamma * p
            if weight == 0.0 or t.lower[d - 1, y] == t.upper[d - 1, y]:
                continue
            q -= weight * t.upper[d - 1, y]
            need = (best - q) / weight  # the action can be best only if V(y) exceeds this
            follow(m, t.sums, s, a, e, 1.0)
            v = value_of(m, y, d - 1, t, need)
            follow(m, t.sums, s, a, e, -1.0)
            q += weight * v
            if v <= need:
                break
        else:
            best = max(best, q)
        x[a] = -np.inf
