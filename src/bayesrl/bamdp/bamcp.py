"""Bayes-adaptive Monte-Carlo planning (Guez, Silver, Dayan 2012, Algorithm 1; survey §4.5).

UCT on histories: every simulation draws a model from the belief at the root and follows it, so that values at the
root converge to the Bayes-optimal ones. (The survey says one model per step; it is one per simulation, ERRATA 5.)
Beyond the tree, rollouts follow an epsilon-greedy policy on a Q-table that is learned from the real transitions alone
(ERRATA 30).

Paper to code: `Simulate` is the first loop of `search`, `Rollout` the second, the UCB rule is `select`, the learned
rollout policy `learned`. A node is a history, found by hashing (parent, action, outcome).
Deviations: models are not drawn but outcomes are, from urns (`kernels/urn.py`), which has the same law and costs O(1)
a step where a row of a model costs O(S). The tree is made anew at every decision, as its author does. Ties are broken
at random. Where states cannot be listed (no `n_states`) there is no table, and rollouts are those of the simulator
(`kernels/simulator.py`), as the author's are on the infinite grid.
Cost: O(simulations x depth x actions). Claims: root values approach the exact ones; the author's returns; equal in
law to a naive transcription that draws models.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator

from bayesrl.checks import Floats, frozen, integer, number
from bayesrl.core import Decision, Transition
from bayesrl.kernels.jit import njit
from bayesrl.kernels.paid_urn import PaidUrn
from bayesrl.kernels.simulator import begin, borrowed, forget, implements, step, wander
from bayesrl.kernels.urn import SparseUrn, Urn
from bayesrl.registry import register


@register(
    "bamcp",
    kind="planner",
    survey="4.5",
    paper="guez12",
    example=lambda: BAMCP(simulations=50, depth=10),
    evidence=(
        "tests/bamdp/test_bamcp.py::test_root_values_approach_the_exact_ones",
        "tests/bamdp/test_bamcp.py::test_equal_in_law_to_a_naive_transcription",
        "tests/bamdp/test_bamcp.py::test_returns_of_the_authors_code",
    ),
)
@dataclass(frozen=True, slots=True)
class BAMCP:
    """Monte-Carlo tree search on the Bayes-adaptive MDP with root sampling."""

    simulations: int = 1000
    """Simulations per decision, K."""
    depth: int = 89
    """Decisions of a simulation; beyond it the value is zero. 89 is accuracy .01 at discount .95."""
    exploration: float = 3.0
    """The UCB constant, c."""
    rollout_epsilon: float = 0.5
    """Probability of a random action in a rollout."""
    rollout_rate: float = 0.2
    """Learning rate of the rollout policy's Q-table."""

    needs: ClassVar[tuple[str, ...]] = ("simulate", "n_actions", "gamma")

    def __post_init__(self) -> None:
        integer("BAMCP", "simulations", self.simulations, 1)
        integer("BAMCP", "depth", self.depth, 1)
        number("BAMCP", "exploration", self.exploration, 0.0)
        number("BAMCP", "rollout_epsilon", self.rollout_epsilon, 0.0, 1.0)
        number("BAMCP", "rollout_rate", self.rollout_rate, 0.0, 1.0)

    def start(self) -> Floats | None:
        """No rollout policy yet."""
        return None

    def plan(
        self, belief: Any, observation: Any, memory: Floats | None, rng: Generator, last: Transition | None = None
    ) -> Decision:
        """Search from the present state and belief."""
        Q = np.zeros((getattr(belief, "n_states", 0), belief.n_actions)) if memory is None else memory
        if len(Q) > 0:
            Q = learned(Q, last, belief.gamma, self.rollout_rate)
        q, n, steps = search(
            rng, belief.simulate(self.depth), observation, Q,
            np.array([belief.gamma, self.exploration, self.rollout_epsilon]), self.simulations, self.depth,
        )  # fmt: skip
        best = np.flatnonzero(q == q.max())
        action = int(best[int(rng.random() * len(best))])
        return Decision(action, Q, {"q": q, "visits": n, "simulations": self.simulations, "steps": int(steps)})


def learned(Q: Floats, last: Transition | None, gamma: float, rate: float) -> Floats:
    """One step of Q-learning on the transition just seen, on a copy."""
    if last is None:
        return Q
    s, a, r, y, terminated = last[:5]
    new = Q.copy()
    new[s, a] += rate * ((r if terminated else r + gamma * Q[y].max()) - Q[s, a])
    return frozen(new)


@njit
def search(rng, model, s0, Q_rollout, settings, K, D):  # type: ignore[no-untyped-def]
    """K simulations of D decisions from s0: (Q(root, a), N(root, a), simulated steps)."""
    gamma, c, epsilon = settings
    model = borrowed(model)
    A = Q_rollout.shape[1]
    N = np.zeros((K + 1, A), np.int64)  # N(h, a)
    Q = np.zeros((K + 1, A))  # Q(h, a)
    total = np.zeros(K + 1, np.int64)  # N(h)
    bits = 4
    while (1 << bits) < 2 * (K + 1):
        bits += 1
    slots = np.full(1 << bits, -1, np.int64)  # the hash table: (parent, action, outcome) -> node
    parent, edge = np.empty(K + 1, np.int64), np.empty(K + 1, np.int64)
    nodes, steps = 1, 0
    path_h, path_a, path_r = np.empty(D, np.int64), np.empty(D, np.int64), np.empty(D)
    marks = np.empty(D, np.int64)
    for _ in range(K):
        begin(model, rng)
        h, s, a, d, depth_of_tree, done = 0, s0, -1, 0, 0, False
        while d < D and not done:  # Simulate
            fresh = total[h] == 0
            a = wander(model, Q_rollout, s, a, epsilon, rng) if fresh else select(rng, Q, N, total[h], h, c)
            path_h[d], path_a[d] = h, a
            k, s, path_r[d], done, marks[d] = step(model, s, a, rng)
            d += 1
            depth_of_tree = d
            if fresh:
                break
            e = int(k) * A + a
            slot = ((h * 0x9E3779B1 + e * 0x85EBCA77) >> 3) & (len(slots) - 1)
            while slots[slot] >= 0 and (parent[slots[slot]] != h or edge[slots[slot]] != e):
                slot = (slot + 1) & (len(slots) - 1)
            if slots[slot] < 0:
                slots[slot], parent[nodes], edge[nodes] = nodes, h, e
                nodes += 1
            h = slots[slot]
        R, discount = 0.0, 1.0
        while d < D and not done:  # Rollout
            a = wander(model, Q_rollout, s, a, epsilon, rng)
            k, s, r, done, marks[d] = step(model, s, a, rng)
            R += discount * r
            discount *= gamma
            d += 1
        for t in range(depth_of_tree - 1, -1, -1):
            R = path_r[t] + gamma * R
            h, a = path_h[t], path_a[t]
            total[h] += 1
            N[h, a] += 1
            Q[h, a] += (R - Q[h, a]) / N[h, a]
        forget(model, marks, d)
        steps += d
    return Q[0], N[0], steps


@njit
def select(rng, Q, N, n, h, c):  # type: ignore[no-untyped-def]
    """The UCB rule: argmax_a Q(h, a) + c sqrt(log N(h) / N(h, a)), untried actions first, ties at random."""
    best, ties, action = -np.inf, 0, 0
    log_n = np.log(n)
    for a in range(Q.shape[1]):
        value = np.inf if N[h, a] == 0 else Q[h, a] + c * np.sqrt(log_n / N[h, a])
        if value > best:
            best, ties, action = value, 1, a
        elif value == best:
            ties += 1
            if rng.random() * ties < 1.0:
                action = a
    return action


@implements(wander, Urn, SparseUrn, PaidUrn)
@njit
def rollout_action(model, Q, s, a, epsilon, rng):  # type: ignore[no-untyped-def]
    """Epsilon-greedy on the learned table, ties at random."""
    A = Q.shape[1]
    u = rng.random()
    if u < epsilon:
        return int(u / epsilon * A)
    best, ties, action = Q[s, 0], 1, 0
    for a in range(1, A):
        if Q[s, a] > best:
            best, ties, action = Q[s, a], 1, a
        elif Q[s, a] == best:
            ties += 1
            if rng.random() * ties < 1.0:
                action = a
    return action
