"""Bayes-adaptive Monte-Carlo planning (Guez, Silver, Dayan 2012, Algorithm 1; survey §4.5).

UCT on histories: every simulation draws a model from the belief at the root and follows it, so that values at the
root converge to the Bayes-optimal ones. (The survey says one model per step; it is one per simulation, ERRATA 5.)
Beyond the tree, rollouts follow an epsilon-greedy policy on a Q-table that is learned from the real transitions alone
(ERRATA 30).

Paper to code: `Simulate` is the first loop of `search`, `Rollout` the second, the UCB rule is `select`, the learned
rollout policy `learned`. A node is a history, found by hashing (parent, action, outcome).
Deviations: models are not drawn but outcomes are, from urns (`kernels/urn.py`), which has the same law and costs O(1)
a step where a row of a model costs O(S). The tree is made anew at every decision, as its author does, unless `reuse`
says otherwise. Ties are broken at random. Where states cannot be listed (no `n_states`) there is no table, and
rollouts are those of the simulator (`kernels/simulator.py`), as the author's are on the infinite grid.
Cost: O(simulations x depth x actions). Claims: root values approach the exact ones; the author's returns; equal in
law to a naive transcription that draws models.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.random import Generator

from bayesrl.bamdp._greedy import state_in
from bayesrl.bamdp.search._lookahead import LEAVES, can_be_searched, leaf_values
from bayesrl.checks import Floats, choice, frozen, integer, number, truth
from bayesrl.core import Decision, Transition
from bayesrl.kernels.jit import njit
from bayesrl.kernels.simulator import begin, borrowed, forget, step, wander
from bayesrl.kernels.stream import stream
from bayesrl.kernels.tree import select
from bayesrl.kernels.urn import AGAIN
from bayesrl.registry import register

FIRST_CAPACITY = 1000
"""Histories that a tree has room for at first, where the number of simulations is not known in advance."""
COMPILING = 0.005
"""Seconds beyond its time by which the first decision on a new kind of belief gives itself away."""


@register(
    "bamcp",
    kind="planner",
    survey="4.5",
    paper="guez12",
    example=lambda: BAMCP(simulations=50, depth=10),
    evidence=(
        "tests/bamdp/test_convergence.py::test_root_values_approach_the_exact_ones",
        "tests/bamdp/test_bamcp.py::test_root_values_approach_the_exact_ones",
        "tests/bamdp/test_bamcp.py::test_equal_in_law_to_a_naive_transcription",
        "tests/bamdp/test_bamcp.py::test_returns_of_the_authors_code",
    ),
)
@dataclass(frozen=True, slots=True)
class BAMCP:
    """Monte-Carlo tree search on the Bayes-adaptive MDP with root sampling."""

    simulations: int = 1000
    """Simulations per decision, K; not read where a time is given."""
    depth: int = 89
    """Decisions of a simulation. 89 is accuracy .01 at discount .95."""
    exploration: float = 3.0
    """The UCB constant, c."""
    rollout_epsilon: float = 0.5
    """Probability of a random action in a rollout."""
    rollout_rate: float = 0.2
    """Learning rate of the rollout policy's Q-table."""
    milliseconds: float | None = None
    """Time per decision instead of a number of simulations; what was done then depends on the machine."""
    reuse: bool = False
    """Whether to keep the part of the tree below what really happened, for the next decision."""
    leaf: str = "zero"
    """The value beyond the last decision: zero, or the mean model's (mean)."""

    needs: ClassVar[tuple[str, ...]] = ("simulate", "n_actions", "gamma")

    def __post_init__(self) -> None:
        integer("BAMCP", "simulations", self.simulations, 1)
        integer("BAMCP", "depth", self.depth, 1)
        number("BAMCP", "exploration", self.exploration, 0.0)
        number("BAMCP", "rollout_epsilon", self.rollout_epsilon, 0.0, 1.0)
        number("BAMCP", "rollout_rate", self.rollout_rate, 0.0, 1.0)
        if self.milliseconds is not None:
            number("BAMCP", "milliseconds", self.milliseconds, 0.0, above=True)
        truth("BAMCP", "reuse", self.reuse)
        choice("BAMCP", "leaf", self.leaf, LEAVES)

    def check(self, belief: Any) -> None:
        """Raise where rewards cannot be told apart, or where there is no mean model for the leaves."""
        can_be_searched("BAMCP", belief, self.leaf)

    def start(self) -> Memory | None:
        """No rollout policy and no tree yet."""
        return None

    def plan(
        self, belief: Any, observation: Any, memory: Memory | None, rng: Generator, last: Transition | None = None
    ) -> Decision:
        """Search from the present state and belief."""
        began = perf_counter()
        listed, A = hasattr(belief, "n_states"), belief.n_actions
        s = state_in("BAMCP", belief, observation) if listed else belief.encode(observation)
        Q = np.zeros((belief.n_states if listed else 0, A)) if memory is None else memory.Q
        if listed:
            Q = learned(Q, last, belief.gamma, self.rollout_rate)
        kept = None
        if self.reuse and memory and last and last.next_state == observation:  # no reset in between
            kept = below(memory.tree, belief.code(last), last.action)
        tree = planted(A, self.simulations if self.milliseconds is None else FIRST_CAPACITY, kept)
        settings = np.array([belief.gamma, self.exploration, self.rollout_epsilon])
        depth = 0 if listed and belief.outcomes.terminal[s] else self.depth  # nothing comes after the end
        model, V0 = belief.simulate(self.depth), leaf_values(belief, self.leaf)
        simulations = partial(search, rng, model, s, Q, V0, settings, depth)
        if self.milliseconds is None:
            done, steps = self.simulations, simulations(tree, self.simulations)
        else:
            tree, done, steps = self.search_for_a_while(simulations, tree, began)
        q, n = tree.Q[0].copy(), tree.N[0].copy()
        best = np.flatnonzero(q == q.max())
        action = int(best[int(rng.random() * len(best))])
        info = {"q": q, "visits": n, "simulations": done, "steps": int(steps)}
        return Decision(action, Memory(Q, tree if self.reuse else None), info)

    def search_for_a_while(self, simulations: Any, tree: Tree, began: float) -> tuple[Tree, int, int]:
        """Search in chunks of at most a tenth of the time, as long as there is time: (tree, simulations, steps).

        Calling costs more than a simulation does, so chunks grow, and no call is made for which there is no time. What
        comes before the second simulation does not count where it takes COMPILING longer than all the time there is.
        """
        budget = self.milliseconds / 1000.0  # type: ignore[operator]
        steps, done = simulations(tree, 1), 1
        if perf_counter() - began > budget + COMPILING:
            began = perf_counter()
        chunk, call = 1, 0.0
        while (left := budget - (perf_counter() - began)) > call:
            if tree.used[0] + chunk >= len(tree.total):
                tree = planted(tree.N.shape[1], 2 * (len(tree.total) + chunk), tree)
            lap = perf_counter()
            steps += simulations(tree, chunk)
            done += chunk
            lap = perf_counter() - lap
            call = min(lap, call or lap)
            chunk = max(1, int(chunk * min(2.0, (left - lap - call) / lap, 0.1 * budget / lap)))
        return tree, done, steps


class Tree(NamedTuple):
    """Histories h as rows of flat arrays; row 0 is the root. Children come after their parents."""

    N: np.ndarray[Any, Any]  # (n, A) N(h, a)
    Q: np.ndarray[Any, Any]  # (n, A) Q(h, a)
    total: np.ndarray[Any, Any]  # (n,) N(h)
    parent: np.ndarray[Any, Any]  # (n,) the history before
    edge: np.ndarray[Any, Any]  # (n,) outcome * A + action by which it went on
    slots: np.ndarray[Any, Any]  # hash table: (parent, edge) -> h, or -1
    used: np.ndarray[Any, Any]  # (1,) rows in use


class Memory(NamedTuple):
    """The rollout policy's table, and the tree of the last search where it is to be used again."""

    Q: Floats
    tree: Tree | None


def planted(A: int, more: int, kept: Tree | None = None) -> Tree:
    """A tree with room for so many histories more, holding those of another one, if given."""
    used = 1 if kept is None else int(kept.used[0])
    n = used + int(more) + 1
    slots = np.full(1 << (2 * n).bit_length(), -1, np.int64)
    tree = Tree(
        np.zeros((n, A), np.int64), np.zeros((n, A)), np.zeros(n, np.int64), np.zeros(n, np.int64),
        np.zeros(n, np.int64), slots, np.array([used]),
    )  # fmt: skip
    if kept is not None:
        for mine, theirs in zip(tree[:5], kept[:5], strict=True):
            mine[:used] = theirs[:used]
    hash_all(tree)
    return tree


def below(tree: Tree | None, code: int, action: int) -> Tree | None:
    """The part of a tree below a real step from its root, as a tree of its own."""
    if tree is None:
        return None
    root = int(tree.slots[slot_of(tree, 0, code * tree.N.shape[1] + action)])
    if root < 0:
        return None
    place = renumbered(tree.parent[: tree.used[0]], root)
    rows = np.flatnonzero(place >= 0)
    parent = place[tree.parent[rows]]
    parent[0] = 0
    n = np.array([len(rows)])
    return Tree(tree.N[rows], tree.Q[rows], tree.total[rows], parent, tree.edge[rows], tree.slots[:0], n)


@njit
def renumbered(parent, root):  # type: ignore[no-untyped-def]
    """New numbers for a root and what is below it, in order; -1 for the rest."""
    place, n = np.full(len(parent), -1), 1
    place[root] = 0
    for h in range(root + 1, len(parent)):
        if place[parent[h]] >= 0:
            place[h] = n
            n += 1
    return place


def learned(Q: Floats, last: Transition | None, gamma: float, rate: float) -> Floats:
    """One step of Q-learning on the transition just seen, on a copy."""
    if last is None:
        return Q
    s, a, r, y, terminated = last[:5]
    new = Q.copy()
    new[s, a] += rate * ((r if terminated else r + gamma * Q[y].max()) - Q[s, a])
    return frozen(new)


@njit
def search(rng, model, s0, Q_rollout, V0, settings, D, tree, K):  # type: ignore[no-untyped-def]
    """K simulations of D decisions from s0, worth V0 after the last, entered into the tree: the steps simulated."""
    gamma, c, epsilon = settings
    rng, model, P = stream(rng), borrowed(model), best_actions(Q_rollout)
    N, Q, total = tree.N, tree.Q, tree.total
    A, steps = N.shape[1], 0
    path_h, path_a, path_r = np.empty(D, np.int64), np.empty(D, np.int64), np.empty(D)
    marks = np.empty(D, np.int64)
    for _ in range(K):
        begin(model, rng)
        h, s, a, d, depth_of_tree, done = 0, s0, -1, 0, 0, False
        while d < D and not done:  # Simulate
            fresh = total[h] == 0
            a = wander(model, P, s, a, epsilon, rng) if fresh else select(rng, Q, N, total[h], h, c)
            path_h[d], path_a[d] = h, a
            k, s, path_r[d], done, marks[d] = step(model, s, a, rng)
            d += 1
            depth_of_tree = d
            if fresh:
                break
            e = int(k) * A + a
            slot = slot_of(tree, h, e)
            if tree.slots[slot] < 0:
                new = tree.used[0]
                tree.slots[slot], tree.parent[new], tree.edge[new] = new, h, e
                tree.used[0] = new + 1
            h = tree.slots[slot]
        R, discount = 0.0, 1.0
        while d < D and not done:  # Rollout
            a = wander(model, P, s, a, epsilon, rng)
            k, s, r, done, marks[d] = step(model, s, a, rng)
            R += discount * r
            discount *= gamma
            d += 1
        if len(V0) > 0 and not done:
            R += discount * V0[s]
        for t in range(depth_of_tree - 1, -1, -1):
            R = path_r[t] + gamma * R
            h, a = path_h[t], path_a[t]
            total[h] += 1
            N[h, a] += 1
            Q[h, a] += (R - Q[h, a]) / N[h, a]
        forget(model, marks, d)
        steps += d
    return steps


@njit
def hash_all(tree):  # type: ignore[no-untyped-def]
    """Enter the histories of a tree into its hash table."""
    for h in range(1, tree.used[0]):
        tree.slots[slot_of(tree, tree.parent[h], tree.edge[h])] = h


@njit
def slot_of(tree, h, e):  # type: ignore[no-untyped-def]
    """Where the history that follows h by e stands in the hash table, or would stand."""
    slot = ((h * 0x9E3779B1 + e * 0x85EBCA77) >> 3) & (len(tree.slots) - 1)
    while tree.slots[slot] >= 0 and (tree.parent[tree.slots[slot]] != h or tree.edge[tree.slots[slot]] != e):
        slot = (slot + 1) & (len(tree.slots) - 1)
    return slot


@njit
def best_actions(Q):  # type: ignore[no-untyped-def]
    """The best actions of each state, in the last row all actions, each equally often in M columns: (S + 1, M).

    M is a multiple of all numbers up to A, if A is at most 6; else columns that are left over say AGAIN, so that any
    number of actions is shared out evenly.
    """
    S, A = Q.shape
    M = 12 if A <= 4 else 60
    while M < 4 * A:
        M *= 2
    P = np.full((S + 1, M), AGAIN)
    for s in range(S + 1):
        best, ties = np.max(Q[s]) if s < S else -np.inf, 0
        for a in range(A):
            ties += s == S or Q[s, a] == best
        each, j = M // ties, 0
        for a in range(A):
            if s == S or Q[s, a] == best:
                P[s, j : j + each] = a
                j += each
    return P
