"""UCT on histories with root sampling: the search of BAMCP (Guez, Silver, Dayan 2012) and POMCP (Silver, Veness 2010).

A node is a history of actions and outcomes. Each simulation draws at the root what is drawn once (a model, a hidden
state), descends by the UCB rule, adds a node, rolls out, and averages returns along its path. The simulator
(`kernels/simulators/simulator.py`) defines outcomes: next states, or observations of hidden states.
docs/how-a-search-reads.md follows one decision through this file.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from bayesrl.kernels.arrays import F1, F2, I2
from bayesrl.kernels.jit import njit
from bayesrl.kernels.random.stream import stream
from bayesrl.kernels.search.history_tree import Tree, child_of, new_tree
from bayesrl.kernels.search.search_bounds import add_return, apart, select, ucb_constants
from bayesrl.kernels.simulators.simulator import (
    Simulator,
    begin,
    borrowed,
    forget,
    mask_illegal,
    rollout_action,
    root,
    step,
)
from bayesrl.kernels.simulators.urn import REDRAW
from bayesrl.kernels.ties import pick, sizes, threshold

FIRST_CAPACITY = 1000
"""Histories that a tree has room for at first, if the number of simulations is not known in advance."""
COMPILING = 0.005
"""If the first simulation takes this many seconds more than the whole budget, it was spent on compiling."""


class Budget(NamedTuple):
    """How long a search may take."""

    simulations: int
    milliseconds: float | None
    """Time instead of a number of simulations."""


class SearchSettings(NamedTuple):
    """The numbers that all simulations of a search share."""

    gamma: float
    """Discount."""
    exploration: float
    """The UCB constant, or AUTO (`kernels/search/search_bounds.py: ucb_constants`)."""
    epsilon: float
    """Share of random actions in rollouts."""
    depth: int
    """Decisions of a simulation, D."""


def best_action(
    model: Simulator, *, start: int, rollout_q: F2, leaf_values: F1, settings: SearchSettings, budget: Budget,
    kept: Tree | None, began: float, rng: Generator,
) -> tuple[int, Tree, dict[str, Any]]:  # fmt: skip
    """Search within a budget: the action of highest value, the tree, and what to report.

    Simulations begin in the state `start`, unless the model draws one. Rollouts prefer the best actions of `rollout_q`,
    (S, A). A simulation is worth `leaf_values`, (S,), after its last decision; without them it is worth nothing. The
    tree begins with the histories of `kept`. `began` is when the decision began (`perf_counter`). Ties are broken at
    random. The value of an action that is not legal is minus infinity.
    """
    gamma, exploration, epsilon, depth = settings
    settings = SearchSettings(float(gamma), float(exploration), float(epsilon), depth)  # of one type, for the compiler
    tree = new_tree(rollout_q.shape[1], budget.simulations if budget.milliseconds is None else FIRST_CAPACITY, kept)
    simulations = partial(search, rng, model, start, rollout_q, leaf_values, settings)
    if budget.milliseconds is None:
        done, steps = budget.simulations, simulations(tree, budget.simulations)
    else:
        tree, done, steps = search_for(budget.milliseconds / 1000.0, simulations, tree, began)
    q = tree.Q[0].copy()
    n = np.where(q == -np.inf, 0, tree.N[0])  # masked actions count as visited
    return pick(q, rng.random()), tree, {"q": q, "visits": n, "simulations": done, "steps": int(steps)}


# The simulations ---------------------------------------------------------------------------------------------------


@njit
def search(
    rng: Generator, model: Simulator, s0: int, Q_rollout: F2, V0: F1, settings: SearchSettings, tree: Tree, K: int
) -> int:
    """K simulations, entered into the tree: the steps simulated. `best_action` says what the arguments are."""
    gamma, given, epsilon, D = settings
    rng, model, P = stream(rng), borrowed(model), best_actions(Q_rollout)
    N, Q, total = tree.N, tree.Q, tree.total
    A, steps = N.shape[1], 0
    path_h, path_a, path_r = np.empty(D, np.int64), np.empty(D, np.int64), np.empty(D)
    marks = np.empty(D, np.int64)
    for _ in range(K):
        begin(model, rng)
        h, s, a, d, depth_of_tree, done = 0, root(model, s0, rng), -1, 0, 0, False
        (c, e), near = ucb_constants(given, tree.spread, total[0]), apart(tree.spread)
        while d < D and not done:  # Simulate
            fresh = total[h] == 0
            if fresh:
                mask_illegal(model, s, Q, N, h)
            a = rollout_action(model, P, s, a, epsilon, rng) if fresh else select(rng, Q, N, total[h], h, c, e, near)
            path_h[d], path_a[d] = h, a
            k, s, path_r[d], done, marks[d] = step(model, s, a, rng)
            d += 1
            depth_of_tree = d
            if fresh:
                break
            h = child_of(tree, h, int(k) * A + a)
        R, discount = 0.0, 1.0
        while d < D and not done:  # Rollout
            a = rollout_action(model, P, s, a, epsilon, rng) + 0  # signed, as above: `step` is compiled for one type
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


# Rollouts ------------------------------------------------------------------------------------------------------------


@njit
def best_actions(Q: F2) -> I2:
    """The best actions of each state, in the last row all actions, each equally often in M columns: (S + 1, M).

    M is a multiple of all numbers up to A, if A is at most 6. Otherwise the columns that are left over say REDRAW, so
    that every action has the same number of columns.
    """
    (S, A), scale = Q.shape, sizes(Q)
    M = 12 if A <= 4 else 60
    while M < 4 * A:
        M *= 2
    P = np.full((S + 1, M), REDRAW)
    for s in range(S + 1):
        known = s < S and not np.isnan(Q[s]).any()
        cut, ties = threshold(Q[s], scale) if known else np.inf, 0
        for a in range(A):
            ties += known and Q[s, a] >= cut
        all_alike = ties == 0  # in the last row, and if a value is not a number
        each, j = M // (A if all_alike else ties), 0
        for a in range(A):
            if all_alike or Q[s, a] >= cut:
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
