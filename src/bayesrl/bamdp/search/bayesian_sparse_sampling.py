"""Bayesian sparse sampling (Wang, Lizotte, Bowling, Schuurmans 2005; survey §4.5).

Sparse sampling on hyper-states, with a tree that grows towards promising actions. At every node a model is drawn from
the node's posterior and solved for the remaining decisions; its best action is taken. So an action is taken with the
probability that it is the best one. An outcome is drawn from the posterior predictive. The descent ends at the first
new outcome, which becomes a leaf with the value of the mean model at its own posterior. Values are backed up by mean
over draws and maximum over actions.

Paper to code: a simulation is one descent of `search`; the drawn model is `draw_model` and the leaf's model is
`mean_model`, both solved by `lookahead`. For flat models of many states `bamdp/search/_split_rows.py` does the same
with split rows.
Deviations: the paper also draws actions by their immediate reward only, which never tries the right action in an MDP
with delayed rewards; here the drawn model is always solved. In a bandit the leaf's value, the best mean reward for
every remaining decision, is the paper's. With a sparse Dirichlet belief the size of each support is drawn, then its
outcomes, then their probabilities. An action that was not drawn at a node has the mean model's value there. Ties are
broken at random.
No parameter is in units of reward: an action is drawn by its probability of being the best.
Cost: O(simulations x depth x (G K gamma variates + depth S A K)). With split rows (not under a sparse prior) a row of c
prior counts takes about 37 c uniform numbers instead of K gamma variates, and a backup as many terms.
Claims: equal in law to a naive transcription, and with split rows to the search with tables; root values approach the
exact ones. This needs every relevant action to be the best one in some model: an action that only gives information may
never be drawn.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.random import Generator

from bayesrl.bamdp._checks import state_in
from bayesrl.bamdp.search._lookahead import Leaf, counts_of, leaf_values
from bayesrl.bamdp.search._split_rows import (
    ListedModel,
    Split,
    add_outcome,
    draw_rows,
    empty_model,
    listed_lookahead,
    mean_rows,
    remove_outcome,
    split_rows,
)
from bayesrl.beliefs.choices import best_action
from bayesrl.capabilities import Enumerates, ListsOutcomes
from bayesrl.core import Decision, Transition
from bayesrl.facets import Differs, Facets
from bayesrl.kernels.arrays import F1, F2, F3, I1
from bayesrl.kernels.jit import njit
from bayesrl.kernels.random.stream import uniform
from bayesrl.kernels.search.search_bounds import highest
from bayesrl.kernels.simulators.counts import (
    DRAWS,
    KINDS,
    Counts,
    add,
    branches,
    draw_outcome,
    move_probability,
    read_outcome,
)
from bayesrl.kernels.simulators.simulator import borrowed
from bayesrl.kernels.simulators.sparse_urn import log_weight
from bayesrl.parameters import AtLeast, declared
from bayesrl.registry import register


class BayesianSparseSamplingNeeds(ListsOutcomes, Enumerates, Protocol):
    """A belief for Bayesian sparse sampling."""


@register(
    "bayesian-sparse-sampling",
    kind="planner",
    survey="4.5",
    paper="wang05sparse",
    example=lambda: BayesianSparseSampling(simulations=5, depth=3),
    facets=Facets(
        depth="variable d",
        actions=Differs(
            "a ~ E[R(s,a)]",
            here="a best in a sampled model",
            why="By the immediate reward alone, an action that pays later is never tried. The drawn model is solved.",
        ),
        successors="s' ~ Pr(s'|s,a,phi)",
        posterior="re-sample at node",
        solution="backups in tree, heuristic at leaves",
        guarantee="not known",
        in_survey=True,
    ),
    evidence=(
        "tests/bamdp/test_convergence.py::test_root_values_approach_the_exact_ones",
        "tests/bamdp/search/test_bss.py::test_equal_in_law_to_a_naive_transcription",
        "tests/bamdp/search/test_bss.py::test_root_values_approach_the_exact_ones",
    ),
)
@declared
class BayesianSparseSampling:
    """A sampled tree of hyper-states whose actions are drawn by posterior sampling.

    Examples
    --------
    Every descent adds one leaf; `visits` counts how often each action of the root was drawn.

    >>> import bayesrl as b
    >>> from numpy.random import default_rng
    >>> prior = b.DirichletMDP.structured(b.make_world("chain-tied"))
    >>> decision = BayesianSparseSampling(simulations=50, depth=5).plan(prior, 0, None, default_rng(0))
    >>> decision.action in (0, 1), int(decision.info["visits"].sum())
    (True, 50)
    """

    simulations: Annotated[int, AtLeast(1), "Descents per decision; each adds one leaf."] = 200
    depth: Annotated[int, AtLeast(1), "Decisions looked ahead, d."] = 8
    leaf: Leaf = "zero"

    needs: ClassVar[tuple[type, ...]] = (BayesianSparseSamplingNeeds,)

    def start(self) -> None:
        """Nothing to remember."""

    def plan(
        self,
        belief: BayesianSparseSamplingNeeds,
        observation: int,
        memory: None,
        rng: Generator,
        last: Transition | None = None,
    ) -> Decision:
        """Grow the tree from the present state and belief."""
        s = state_in("BayesianSparseSampling", belief, observation)
        m = counts_of(self, belief, self.depth)
        leaf = leaf_values("BayesianSparseSampling", belief, belief.n_states, self.leaf)
        q, n = search(rng, m, belief.outcomes.is_flat, s, belief.gamma, leaf, self.simulations, self.depth)
        return Decision(best_action(q, "random", rng), None, {"q": q, "visits": n, "simulations": self.simulations})


class ModelMemory(NamedTuple):
    """Memory for one model of a search, as split rows if that pays, otherwise as tables."""

    split: Split  # the counts as split rows, or empty
    listed: ListedModel  # a model with split rows
    theta: F2  # (G, K) a model as tables: probabilities
    reward: F3  # (S, A, K) and rewards
    v: F2  # (2, S) scratch


@njit
def search(rng: Generator, m: Counts, flat: bool, s0: int, gamma: float, V0: F1, n: int, D: int) -> tuple[F1, I1]:
    """Run n descents of at most D decisions from s0: (Q(root, a), N(root, a))."""
    m, A, E = borrowed(m), m.group.shape[1], m.succ.shape[2] * max(len(m.values), 1)
    Q, N = np.zeros((n + 1, A)), np.zeros((n + 1, A), np.int64)
    V, state = np.zeros(n + 1), np.empty(n + 1, np.int64)
    child, times = np.full((n + 1, A, E), -1, np.int64), np.zeros((n + 1, A, E), np.int64)
    if m.terminal[s0]:
        return Q[0], N[0]
    w, q = empty_models(m, flat, D), np.empty(A)
    q_of_mean(m, w, s0, D, gamma, V0, Q[0])
    state[0], nodes = s0, 1
    path_h, path_a, path_e = np.empty(D, np.int64), np.empty(D, np.int64), np.empty(D, np.int64)
    for _ in range(n):
        h, t = 0, 0
        while t < D and not m.terminal[state[h]]:
            s = state[h]
            q_of_draw(rng, m, w, s, D - t, gamma, V0, q)
            a = highest(rng, q)
            e = draw_outcome(m, s, a, rng)
            y = read_outcome(m, s, a, e)[1]
            learn(m, w, s, a, e)
            path_h[t], path_a[t], path_e[t] = h, a, e
            t += 1
            if child[h, a, e] < 0:
                child[h, a, e], state[nodes], V[nodes] = nodes, y, V0[y]
                if t < D and not m.terminal[y]:
                    V[nodes] = q_of_mean(m, w, y, D - t, gamma, V0, Q[nodes])
                nodes += 1
                break
            h = child[h, a, e]
        for u in range(t - 1, -1, -1):
            h, a, e = path_h[u], path_a[u], path_e[u]
            s = state[h]
            unlearn(m, w, s, a, e)
            N[h, a] += 1
            times[h, a, e] += 1
            Q[h, a] = 0.0
            for i in range(branches(m, s, a)):
                if times[h, a, i] > 0:
                    Q[h, a] += times[h, a, i] / N[h, a] * (read_outcome(m, s, a, i)[2] + gamma * V[child[h, a, i]])
            V[h] = -np.inf
            for b in range(A):
                V[h] = max(V[h], Q[h, b])
    return Q[0], N[0]


# Split rows or tables ------------------------------------------------------------------------------------------------


@njit
def empty_models(m: Counts, flat: bool, D: int) -> ModelMemory:
    """Room for the models of a search."""
    c = split_rows(m, flat, D)
    G, S = (0, 0) if len(c.base) else (len(m.phi), len(m.succ))
    return ModelMemory(
        c, empty_model(c), np.empty((G, m.phi.shape[1])), np.empty((S, *m.succ.shape[1:])), np.empty((2, len(m.succ)))
    )


@njit
def q_of_mean(m: Counts, w: ModelMemory, s: int, d: int, gamma: float, V0: F1, q: F1) -> float:
    """Fill q[a] = Q_d(s, a) in the mean model of the present counts, return V_d(s)."""
    if len(w.split.base):
        mean_rows(w.split, w.listed)
        return listed_lookahead(w.listed, s, d, gamma, V0, w.v, q)
    mean_model(m, w.theta, w.reward)
    return lookahead(m, w.theta, w.reward, s, d, gamma, V0, w.v, q)


@njit
def q_of_draw(rng: Generator, m: Counts, w: ModelMemory, s: int, d: int, gamma: float, V0: F1, q: F1) -> float:
    """The same in a model drawn from the posterior of the present counts."""
    if len(w.split.base):
        draw_rows(rng, w.split, w.listed)
        return listed_lookahead(w.listed, s, d, gamma, V0, w.v, q)
    draw_model(rng, m, w.theta, w.reward)
    return lookahead(m, w.theta, w.reward, s, d, gamma, V0, w.v, q)


@njit
def learn(m: Counts, w: ModelMemory, s: int, a: int, e: int) -> None:
    """Add outcome e of (s, a) to the counts."""
    add(m, s, a, e, 1.0)
    if len(w.split.base):
        add_outcome(w.split, m.group[s, a], e)


@njit
def unlearn(m: Counts, w: ModelMemory, s: int, a: int, e: int) -> None:
    """Remove outcome e of (s, a) from the counts."""
    add(m, s, a, e, -1.0)
    if len(w.split.base):
        remove_outcome(w.split, m.group[s, a])


# Tables --------------------------------------------------------------------------------------------------------------


@njit
def lookahead(m: Counts, theta: F2, reward: F3, s0: int, d: int, gamma: float, V0: F1, v: F2, q: F1) -> float:
    """Backward induction in a model: fill q[a] = Q_d(s0, a), return V_d(s0). v (2, S) is scratch."""
    S, A = m.group.shape
    for s in range(S):
        v[0, s] = V0[s]
    for i in range(d):
        for s in range(S) if i < d - 1 else range(s0, s0 + 1):
            best = -np.inf if not m.terminal[s] else 0.0
            for a in range(A if not m.terminal[s] else 0):
                g, x = m.group[s, a], 0.0
                for k in range(m.size[g]):
                    x += theta[g, k] * (reward[s, a, k] + gamma * v[i % 2, m.succ[s, a, k]])
                best = max(best, x)
                if i == d - 1 and s == s0:
                    q[a] = x
            v[1 - i % 2, s] = best
    return v[d % 2, s0]


@njit
def mean_model(m: Counts, theta: F2, reward: F3) -> None:
    """Fill in the probabilities and rewards of the mean model of the present counts."""
    for g in range(len(theta)):
        for k in range(m.size[g]):
            theta[g, k] = move_probability(m, g, k)
    paid = np.zeros(len(m.pay))
    for c in range(len(paid)):
        for j in range(len(m.values)):
            paid[c] += m.pay[c, j] / m.pay_total[c] * m.values[j]
    fill_rewards(m, paid, reward)


@njit
def draw_model(rng: Generator, m: Counts, theta: F2, reward: F3) -> None:
    """Fill in a model drawn from the posterior of the present counts; its rewards are drawn means."""
    if m.alpha > 0.0:
        draw_supports(rng, m, theta)
    for g in range(len(theta) if m.alpha == 0.0 else 0):
        if m.gain[g] > 0.0:
            dirichlet(rng, m.phi, g, m.size[g], theta[g])
        else:
            for k in range(m.size[g]):
                theta[g, k] = m.phi[g, k]
    paid, row = np.zeros(len(m.pay)), np.empty(len(m.values))
    for c in range(len(paid)):
        dirichlet(rng, m.pay, c, len(row), row)
        for j in range(len(row)):
            paid[c] += row[j] * m.values[j]
    fill_rewards(m, paid, reward)


@njit
def draw_supports(rng: Generator, m: Counts, theta: F2) -> None:
    """Draw probabilities from the posterior of a sparse Dirichlet: sizes, then supports, then Dirichlets on them."""
    sizes, counts = np.empty(m.phi.shape[1] + 1), np.empty((1, m.phi.shape[1]))
    k0, N, L = -1.0, -1.0, -1
    for g in range(len(theta)):
        if k0 != m.support[g, KINDS] or N != m.support[g, DRAWS] or L != m.size[g]:  # most rows equal the one before
            k0, N, L = m.support[g, KINDS], m.support[g, DRAWS], m.size[g]
            size_law(k0, N, L, m.alpha, m.exponent, sizes)
        left, k = uniform(rng) * sizes[L], 1
        while k < L and left >= sizes[k]:
            k += 1
        need, rest = k - k0, L - k0  # each outcome not seen is in the support with probability need / rest
        for k in range(L):
            counts[0, k] = m.alpha + m.phi[g, k]
            if m.phi[g, k] == 0.0:
                if need > 0.0 and uniform(rng) * rest < need:
                    need -= 1.0
                else:
                    counts[0, k] = 0.0
                rest -= 1.0
        dirichlet(rng, counts, 0, L, theta[g])


@njit
def size_law(k0: float, N: float, L: int, alpha: float, exponent: float, total: F1) -> None:
    """Fill total[k] with the weight of sizes 1..k of the support after N draws of k0 distinct outcomes."""
    low, top = max(int(k0), 1), -np.inf
    for k in range(low, L + 1):
        top = max(top, log_weight(k, k0, N, alpha, exponent))
    total[:low] = 0.0
    for k in range(low, L + 1):
        total[k] = total[k - 1] + np.exp(log_weight(k, k0, N, alpha, exponent) - top)


@njit
def fill_rewards(m: Counts, paid: F1, reward: F3) -> None:
    """Set the reward of each outcome: the known one, or the mean of its cell."""
    S, A, K = m.succ.shape
    for s in range(S):
        for a in range(A):
            for k in range(K):
                reward[s, a, k] = m.reward[s, a, k] if len(paid) == 0 else paid[m.cell[s, a, k]]


@njit
def dirichlet(rng: Generator, alpha: F2, g: int, n: int, x: F1) -> None:
    """Draw x from the Dirichlet of alpha[g, :n]; entries with alpha = 0 are 0.

    Gamma(a) has the law of Gamma(a + 1) e^(-E / a) with E exponential. Logarithms avoid underflow for tiny counts.
    """
    top, total = -np.inf, 0.0
    for k in range(n):
        x[k] = -np.inf
        if alpha[g, k] > 0.0:
            x[k] = np.log(rng.standard_gamma(alpha[g, k] + 1.0)) - rng.standard_exponential() / alpha[g, k]
        top = max(top, x[k])
    for k in range(n):
        x[k] = np.exp(x[k] - top)
        total += x[k]
    for k in range(n):
        x[k] /= total
