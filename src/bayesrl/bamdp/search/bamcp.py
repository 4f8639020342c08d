"""Bayes-adaptive Monte-Carlo planning (Guez, Silver, Dayan 2012, Algorithm 1; survey §4.5).

UCT on histories: every simulation draws a model from the belief at the root and follows it, so that values at the
root converge to the Bayes-optimal ones. (The survey says one model per step; it is one per simulation, ERRATA 5.)
Beyond the tree, rollouts follow an epsilon-greedy policy on a Q-table that is learned from the real transitions alone
(ERRATA 30).

Paper to code: Search is `plan` and the loop of `search` over simulations, Simulate and Rollout are the two loops in it,
the UCB rule is `select`, the learned rollout policy `learned`. A node is a history: `_history_tree.py`.
Deviations: outcomes are drawn from urns (`kernels/urn.py`) instead of models from the posterior. This has the same law
and costs O(1) a step, where a row of a model costs O(S). The tree is made anew at every decision, as in the author's
code, unless `reuse` keeps a part of it. The author's c is 3 in units of reward. By default the
bonus is that of Bernstein's inequality, with the standard deviation and the range of the returns simulated from the
root so far (`kernels/tree.py: ucb_constants`), so that the unit of rewards does not matter; docs/convergence.md
compares it with numbers on all worlds. Ties are broken at random. If states cannot be listed there is no Q-table, and
rollouts are those of the simulator (`kernels/simulator.py`), as the author's are on the infinite grid.
Cost: O(simulations x depth x actions). Claims: root values approach the exact ones; the author's returns; equal in
law to a naive transcription that draws models.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from time import perf_counter
from typing import Annotated, Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.random import Generator

from bayesrl.bamdp.search._history_tree import Tree, child_of, new_tree, subtree
from bayesrl.bamdp.search._lookahead import Exploration, Leaf, check_leaf, constant_of, leaf_values
from bayesrl.capabilities import NamesOutcomes, Simulates
from bayesrl.checks import Floats, frozen
from bayesrl.core import Decision, Transition
from bayesrl.kernels.arrays import F1, F2, I2
from bayesrl.kernels.jit import njit
from bayesrl.kernels.simulator import begin, borrowed, forget, rollout_action, step
from bayesrl.kernels.stream import stream
from bayesrl.kernels.tree import add_return, select, ucb_constants
from bayesrl.kernels.urn import REDRAW
from bayesrl.parameters import PROBABILITY, Above, AtLeast, declared
from bayesrl.registry import register

FIRST_CAPACITY = 1000
"""Histories that a tree has room for at first, if the number of simulations is not known in advance."""
COMPILING = 0.005
"""If the first simulation takes this many seconds more than the whole budget, it was spent on compiling."""


class Asked(Simulates, NamesOutcomes, Protocol):
    """What BAMCP asks."""


class Memory(NamedTuple):
    """The rollout policy's table, and the tree of the last search if it is to be used again."""

    Q: Floats
    tree: Tree | None


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
@declared
class BAMCP:
    """Monte-Carlo tree search on the Bayes-adaptive MDP with root sampling.

    Examples
    --------
    `info` has the root's values `q`, by which the action is chosen, and its visits.

    >>> import bayesrl as b
    >>> from numpy.random import default_rng
    >>> prior = b.DirichletMDP.flat(b.make_world("chain"))
    >>> decision = BAMCP(simulations=200, depth=30).plan(prior, 0, None, default_rng(0))
    >>> decision.action == int(decision.info["q"].argmax()), int(decision.info["visits"].sum())
    (True, 200)
    """

    simulations: Annotated[int, AtLeast(1), "Simulations per decision, K; not used if `milliseconds` is given."] = 1000
    depth: Annotated[int, AtLeast(1), "Decisions of a simulation. 89 is accuracy .01 at discount .95."] = 89
    exploration: Annotated[
        Exploration,
        AtLeast(0),
        'The UCB constant, c, in units of returns; "auto": Bernstein\'s bound on the returns simulated so far.',
    ] = "auto"
    rollout_epsilon: Annotated[float, PROBABILITY, "Probability of a random action in a rollout."] = 0.5
    rollout_rate: Annotated[float, PROBABILITY, "Learning rate of the rollout policy's Q-table."] = 0.2
    milliseconds: Annotated[
        float | None,
        Above(0),
        "Time per decision instead of a number of simulations; results then depend on the machine.",
    ] = None
    reuse: Annotated[bool, "Whether the next decision keeps the part of the tree below what really happened."] = False
    leaf: Annotated[Leaf, "The value beyond the last decision: zero, or the mean model's."] = "zero"

    needs: ClassVar[tuple[type, ...]] = (Asked,)

    def check(self, belief: Asked) -> None:
        """Raise an error if the leaves need a mean model and there is none."""
        check_leaf("BAMCP", belief, self.leaf)

    def start(self) -> Memory | None:
        """No rollout policy and no tree yet."""
        return None

    def plan(
        self, belief: Asked, observation: Any, memory: Memory | None, rng: Generator, last: Transition | None = None
    ) -> Decision:
        """Search from the present state and belief."""
        began = perf_counter()
        S, A, s = belief.numbered_states, belief.n_actions, belief.encode(observation, "BAMCP")
        Q = np.zeros((S, A)) if memory is None else memory.Q
        if S > 0:
            Q = learned(Q, last, belief.gamma, self.rollout_rate)
        tree = new_tree(
            A,
            self.simulations if self.milliseconds is None else FIRST_CAPACITY,
            self._kept(belief, observation, memory, last),
        )
        settings = np.array([belief.gamma, constant_of(self.exploration), self.rollout_epsilon])
        depth = 0 if belief.is_terminal(s) else self.depth  # nothing comes after the end
        model, V0 = belief.simulate(self.depth), leaf_values("BAMCP", belief, S, self.leaf)
        simulations = partial(search, rng, model, s, Q, V0, settings, depth)
        if self.milliseconds is None:
            done, steps = self.simulations, simulations(tree, self.simulations)
        else:
            tree, done, steps = search_for(self.milliseconds / 1000.0, simulations, tree, began)
        q, n = tree.Q[0].copy(), tree.N[0].copy()
        best = np.flatnonzero(q == q.max())
        action = int(best[int(rng.random() * len(best))])
        info = {"q": q, "visits": n, "simulations": done, "steps": int(steps)}
        return Decision(action, Memory(Q, tree if self.reuse else None), info)

    def _kept(self, belief: Asked, observation: Any, memory: Memory | None, last: Transition | None) -> Tree | None:
        """The part of the last tree that can be used again; none if the episode was reset in between."""
        if not self.reuse or memory is None or memory.tree is None or last is None:
            return None
        return subtree(memory.tree, belief.code(last), last.action) if last.next_state == observation else None


# Algorithm 1 ---------------------------------------------------------------------------------------------------------


@njit
def search(
    rng: Generator, model: object, s0: int, Q_rollout: F2, V0: F1, settings: F1, D: int, tree: Tree, K: int
) -> int:
    """K simulations of D decisions from s0, worth V0 after the last, entered into the tree: the steps simulated."""
    gamma, given, epsilon = settings
    rng, model, P = stream(rng), borrowed(model), best_actions(Q_rollout)
    N, Q, total = tree.N, tree.Q, tree.total
    A, steps = N.shape[1], 0
    path_h, path_a, path_r = np.empty(D, np.int64), np.empty(D, np.int64), np.empty(D)
    marks = np.empty(D, np.int64)
    for _ in range(K):
        begin(model, rng)
        h, s, a, d, depth_of_tree, done = 0, s0, -1, 0, 0, False
        c, e = ucb_constants(given, tree.spread, total[0])
        while d < D and not done:  # Simulate
            fresh = total[h] == 0
            a = rollout_action(model, P, s, a, epsilon, rng) if fresh else select(rng, Q, N, total[h], h, c, e)
            path_h[d], path_a[d] = h, a
            k, s, path_r[d], done, marks[d] = step(model, s, a, rng)
            d += 1
            depth_of_tree = d
            if fresh:
                break
            h = child_of(tree, h, int(k) * A + a)
        R, discount = 0.0, 1.0
        while d < D and not done:  # Rollout
            a = rollout_action(model, P, s, a, epsilon, rng)
            k, s, r, done, marks[d] = step(model, s, a, rng)
            R += discount * r
            discount *= gamma
            d += 1
        if len(V0) > 0 and not done:
            R += discount * V0[s]
        for t in range(depth_of_tree - 1, -1, -1):  # back up
            R = path_r[t] + gamma * R
            h, a = path_h[t], path_a[t]
            total[h] += 1
            N[h, a] += 1
            Q[h, a] += (R - Q[h, a]) / N[h, a]
        if D > 0:
            add_return(tree.spread, R, total[0])
        forget(model, marks, d)
        steps += d
    return steps


# The rollout policy --------------------------------------------------------------------------------------------------


def learned(Q: Floats, last: Transition | None, gamma: float, rate: float) -> Floats:
    """One step of Q-learning on the transition just seen, on a copy."""
    if last is None:
        return Q
    s, a, r, y, terminated = last[:5]
    new = Q.copy()
    new[s, a] += rate * ((r if terminated else r + gamma * Q[y].max()) - Q[s, a])
    return frozen(new)


@njit
def best_actions(Q: F2) -> I2:
    """The best actions of each state, in the last row all actions, each equally often in M columns: (S + 1, M).

    M is a multiple of all numbers up to A, if A is at most 6. Otherwise the columns that are left over say REDRAW, so
    that every action has the same number of columns.
    """
    S, A = Q.shape
    M = 12 if A <= 4 else 60
    while M < 4 * A:
        M *= 2
    P = np.full((S + 1, M), REDRAW)
    for s in range(S + 1):
        best, ties = np.max(Q[s]) if s < S else -np.inf, 0
        for a in range(A):
            ties += s == S or Q[s, a] == best
        all_alike = s == S or ties == 0  # no action is best if a value is not a number
        each, j = M // (A if all_alike else ties), 0
        for a in range(A):
            if all_alike or Q[s, a] == best:
                P[s, j : j + each] = a
                j += each
    return P


# A budget of time ----------------------------------------------------------------------------------------------------


def search_for(
    seconds: float, simulations: Callable[[Tree, int], int], tree: Tree, began: float
) -> tuple[Tree, int, int]:
    """Search in chunks of at most a tenth of the time until the time is spent: (tree, simulations, steps).

    A call costs more than a simulation, so chunks grow, and no call is made if there is no time left for it. The first
    simulation may have to be compiled: if it shows (COMPILING), the clock starts after it.
    """
    steps, done = simulations(tree, 1), 1
    if perf_counter() - began > seconds + COMPILING:
        began = perf_counter()
    chunk, call = 1, 0.0
    while (left := seconds - (perf_counter() - began)) > call:
        if tree.used[0] + chunk >= len(tree.total):
            tree = new_tree(tree.N.shape[1], 2 * (len(tree.total) + chunk), tree)
        lap = perf_counter()
        steps += simulations(tree, chunk)
        done += chunk
        lap = perf_counter() - lap
        call = min(lap, call or lap)
        chunk = max(1, int(chunk * min(2.0, (left - lap - call) / lap, 0.1 * seconds / lap)))
    return tree, done, steps
