"""Hallway (Littman, Cassandra and Kaelbling 1995): find a room in a corridor, with sensors that err.

    0 1 2 3 4 5 6 7 8 9 10        cells, from west to east
        11  12  13  14            south of cells 2, 4, 6, 8; 14 is the goal

A state is 4 cell + heading, headings N E S W = 0 1 2 3. Each side of the cell shows a wall or an opening: a wall is
seen with .9, an opening is taken for a wall with .05, independently. Cells 2, 4, 6, 8 show a landmark of their own to
whoever faces south, and the goal shows itself. The rule reproduces the public file up to its rounding.

What the Bayes-adaptive version leaves unknown is ours: how often going forward and turning do what they should, tied
over all cells and headings. The effect that is meant has a count of 4, each other one a count of 1.
"""

from __future__ import annotations

from itertools import product
from typing import Annotated

import numpy as np

from bayesrl.checks import number
from bayesrl.parameters import DISCOUNT
from bayesrl.registry import register
from bayesrl.worlds.hidden import POMDPWorld
from bayesrl.worlds.pomdps._tables import listed_pomdp, observations_by_state, padded

PLACES = {(x, 0): x for x in range(11)} | {(x, -1): 10 + x // 2 for x in (2, 4, 6, 8)}
"""Cells by (x, y)."""
AHEAD = ((0, 1), (1, 0), (0, -1), (-1, 0))
"""One step in the direction of a heading."""
WALLED = -1
GOAL, LANDMARKS = 14, {10: 16, 18: 17, 26: 18, 34: 19}
WALL, FALSE_WALL = 0.9, 0.05
EFFECTS = ((0, 0), (3, 3), (1, 1), (2, 2), (2, 0))
"""Going forward: the way of the step and the heading after it, in quarters to the right. The last effect is to stay."""
FORWARD = [0.8, 0.05, 0.05, 0.025, 0.025, 0.05]
TURNS = [[0.1, 0.7, 0.1, 0.1], [0.1, 0.15, 0.6, 0.15], [0.1, 0.1, 0.1, 0.7]]
"""Turning right, around and left: the new heading, in quarters to the right."""


@register(
    "hallway",
    kind="world",
    survey="4.3",
    paper="littman95",
    evidence=(
        "tests/worlds/pomdps/test_pomdp_worlds.py::test_hallway_follows_the_rule",
        "tests/worlds/pomdps/test_pomdp_worlds.py::test_hidden_world_laws",
    ),
)
def hallway(gamma: Annotated[float, DISCOUNT, "Discount."] = 0.95) -> POMDPWorld:
    """A robot in a corridor with four rooms, one of which is the goal; there it is put back to a random place.

    It starts anywhere but in the goal, facing any way. The optimal value of the start is between .9887 and 1.2091.

    Examples
    --------
    >>> hallway().pomdp
    TabularPOMDP(states=60, actions=5, observations=21, gamma=0.95)
    """
    discount = number("hallway", "gamma", gamma, 0.0, 1.0)
    away = np.arange(4 * GOAL)  # the states that are not the goal
    succ, group = np.zeros((60, 5, len(away)), np.int64), np.tile(np.arange(5), (60, 1))  # group 0: stay
    shown = np.zeros((60, 21))
    for ((x, y), cell), h in product(PLACES.items(), range(4)):
        s = 4 * cell + h
        if cell == GOAL:
            succ[s], group[s], shown[s, 20] = away, 5, 1.0
            continue
        beside = [PLACES.get((x + AHEAD[(h + q) % 4][0], y + AHEAD[(h + q) % 4][1]), WALLED) for q in range(4)]
        moved = [s if beside[way] == WALLED else 4 * beside[way] + (h + turned) % 4 for way, turned in EFFECTS]
        succ[s, 0, 0], succ[s, 1, :6] = s, [*moved, s]
        succ[s, 2:, :4] = [4 * cell + (h + q) % 4 for q in range(4)]
        if s in LANDMARKS:
            shown[s, LANDMARKS[s]] = 1.0
            continue
        taken = [WALL if one == WALLED else FALSE_WALL for one in beside]  # front, right, behind, left
        for z in range(16):
            bits = (z >> 3 & 1, z >> 2 & 1, z >> 1 & 1, z & 1)
            shown[s, z] = np.prod([p if bit else 1.0 - p for p, bit in zip(taken, bits, strict=True)])
    rows = [[1.0], FORWARD, *TURNS, [1.0 / len(away)] * len(away)]
    R = np.zeros((60, 5, 60))
    R[: 4 * GOAL, :, 4 * GOAL :] = 1.0
    start = np.where(np.arange(60) < 4 * GOAL, 1.0 / len(away), 0.0)
    turning = ([4.0 if q == meant else 1.0 for q in range(4)] for meant in (1, 2, 3))
    observed, seen = observations_by_state(shown, 5)
    return POMDPWorld(
        "hallway",
        listed_pomdp(succ, group, rows, observed, seen, R, discount, start),
        states=tuple(f"{cell}-{way}" for cell in range(15) for way in "NESW"),
        actions=("stay", "forward", "turn-right", "turn-around", "turn-left"),
        bracket=(0.9887, 1.2091) if discount == 0.95 else None,
        transition_counts=padded([[0.0], [4.0, *[1.0] * 5], *turning, [0.0] * len(away)]),
    )
