"""Load and unload (Meuleau and others 1999): go to and fro on a line, and remember which way.

There are n positions; position 0 is where to unload, position n - 1 where to load. A state is a position and whether
one is loaded: unloaded at position 0, loaded at position n - 1. States are ordered by position, unloaded first. Moves
are certain. Only the two ends can be told from what is seen. Arriving at position 0 loaded pays 1.

Where one starts is known and moves are certain, so the state is never in doubt for whoever knows the model. What the
Bayes-adaptive version leaves unknown is ours: which way the two actions go. Each action has its own counts of moving
towards position 0 and towards position n - 1, one of each.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from bayesrl.checks import integer, number
from bayesrl.parameters import DISCOUNT, AtLeast
from bayesrl.registry import register
from bayesrl.worlds.hidden import POMDPWorld
from bayesrl.worlds.pomdps._tables import listed_pomdp, observations_by_state

MOST = 500
"""Positions. Rewards are a table of (s, a, s')."""


@register(
    "load-unload",
    kind="world",
    survey="4.9",
    paper="meuleau99",
    evidence=(
        "tests/worlds/pomdps/test_pomdp_worlds.py::test_load_unload_by_hand",
        "tests/worlds/pomdps/test_pomdp_worlds.py::test_hidden_world_laws",
    ),
)
def load_unload(
    positions: Annotated[int, AtLeast(2), "Number of positions, n, at most 500."] = 8,
    gamma: Annotated[float, DISCOUNT, "Discount."] = 0.95,
) -> POMDPWorld:
    """A line with a place to load at one end and a place to unload at the other; in between, all looks the same.

    One round takes 2n - 2 steps, so the optimal value of the start is gamma^(2n - 3) / (1 - gamma^(2n - 2)).

    Examples
    --------
    >>> world = load_unload()
    >>> world.n_states, [round(x, 6) for x in world.value]
    (14, [1.001985, 1.001985])
    """
    n = integer("load-unload", "positions", positions, 2, MOST)
    discount = number("load-unload", "gamma", gamma, 0.0, 1.0)
    states = [(p, loaded) for p in range(n) for loaded in (False, True) if loaded or p < n - 1 if not loaded or p > 0]
    number_of = {state: i for i, state in enumerate(states)}
    succ = np.zeros((len(states), 2, 2), np.int64)  # of action a: outcome 0 towards position 0, outcome 1 away from it
    for i, (p, loaded) in enumerate(states):
        for k, there in enumerate((max(p - 1, 0), min(p + 1, n - 1))):
            succ[i, :, k] = number_of[there, there == n - 1 or (loaded and there > 0)]
    R = np.zeros((len(states), 2, len(states)))
    R[number_of[1, True], :, 0] = 1.0
    shown = [[p == 0, p == n - 1, 0 < p < n - 1] for p, _ in states]
    observed, rows = observations_by_state(shown, 2)
    group = np.tile([0, 1], (len(states), 1))
    pomdp = listed_pomdp(succ, group, [[1.0, 0.0], [0.0, 1.0]], observed, rows, R, discount, np.eye(len(states))[0])
    best = None if discount == 1.0 else discount ** (2 * n - 3) / (1.0 - discount ** (2 * n - 2))
    return POMDPWorld(
        "load-unload",
        pomdp,
        states=tuple(f"{p}-{'loaded' if loaded else 'unloaded'}" for p, loaded in states),
        actions=("to-unload", "to-load"),
        observations=("unload", "load", "between"),
        bracket=None if best is None else (best, best),
        transition_counts=np.ones((2, 2)),
    )
