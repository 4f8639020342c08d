"""The Wumpus world (Russell and Norvig 2002; survey §4.6, where VBRB is tried on a problem like it).

    4  S . B P        A start (facing east), P pit, W wumpus, G gold; S and B mark cells beside the
    3  W G P B        wumpus and a pit. Rows count from below, columns from the left: cell (column, row).
    2  S . B .
    1  A B P B

A cave of 4 by 4 cells. Actions: go forward (against a wall it stays), turn left, turn right, grab the gold, shoot,
climb out. Each action costs 1. Falling into a pit, or meeting the wumpus, costs another 1000 and ends the episode.
Climbing out of the start cell ends it too, and pays 1000 with the gold. The one arrow flies straight ahead, costs
another 10, and kills the wumpus if it meets it.

Nothing is random: what an agent has to learn is the map. A state is the cell, the way it faces, whether it holds the
gold, and whether the arrow and the wumpus are left; those that cannot be reached from the start are left out. The
state is seen, so that the book's percepts (stench, breeze, glitter, bump, scream) would tell nothing about it that the
state does not tell; about cells that were not yet visited they would, and such an agent is not what VBRB's Dirichlet
counts are. The variant of Sorg, Singh and Lewis (2010) is known to us from the survey alone.

With `seed` the map is drawn as in the book: wumpus and gold are in any cell but the start, and any other cell holds a
pit with probability .2. The gold may then be out of reach.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
from numpy.random import Generator, default_rng

from bayesrl.checks import integer, number
from bayesrl.models.mdp import TabularMDP
from bayesrl.parameters import DISCOUNT, AtLeast
from bayesrl.registry import register
from bayesrl.worlds.settings import Setting
from bayesrl.worlds.tabular import MDPWorld

SIZE, STEPS = 4, 1000
Cell = tuple[int, int]
FORWARD, LEFT, RIGHT, GRAB, SHOOT, CLIMB = range(6)
DX, DY = (1, 0, -1, 0), (0, 1, 0, -1)
"""East, north, west, south: a turn to the left adds one."""
COST, ARROW, DEATH, GOLD = -1.0, -10.0, -1000.0, 1000.0
PITS = 0.2
OPTIMUM = 988.0
"""Of an episode on the map of the book."""


class Cave(NamedTuple):
    """The places of wumpus, gold and pits: cells (x, y) from (0, 0), the start."""

    wumpus: Cell
    gold: Cell
    pits: frozenset[Cell]


class Hunter(NamedTuple):
    """A state."""

    x: int
    y: int
    facing: int
    gold: bool
    arrow: bool
    wumpus: bool
    """Whether the wumpus lives."""


BOOK = Cave((0, 2), (1, 2), frozenset([(2, 0), (2, 2), (3, 3)]))
ENTERS = Hunter(0, 0, 0, False, True, True)


@register(
    "wumpus",
    kind="world",
    survey="4.6",
    paper="russell02",
    evidence=(
        "tests/worlds/mdps/test_literature_worlds.py::test_declared_optimum",
        "tests/worlds/mdps/test_literature_worlds.py::test_wumpus_by_hand",
        "tests/worlds/mdps/test_literature_worlds.py::test_samples_match_probabilities",
    ),
)
def wumpus(
    gamma: Annotated[float, DISCOUNT, "Discount."] = 0.95,
    seed: Annotated[int | None, AtLeast(0), "Draws a map; None: the book's."] = None,
) -> MDPWorld:
    """A cave with pits, a wumpus and gold: fetch the gold and climb out, or climb out at once.

    On the book's map the best path takes 12 actions and earns 988, which is the optimum of an episode.

    Examples
    --------
    >>> world = wumpus()
    >>> world.mdp
    TabularMDP(states=297, actions=6, gamma=0.95)
    >>> world.step(0, 5, np.random.default_rng(0)).terminated  # climb out, with empty hands
    True
    """
    discount = number("wumpus", "gamma", gamma, 0.0, 1.0)
    cave = BOOK if seed is None else drawn(default_rng(integer("wumpus", "seed", seed, 0, any_length=True)))
    number_of, edges = {ENTERS: 0}, []
    states = [ENTERS]
    for s, hunter in enumerate(states):  # which grows
        for a in range(6):
            there, paid = follow(cave, hunter, a)
            if there is not None and there not in number_of:
                number_of[there] = len(states)
                states.append(there)
            edges.append((s, a, there, paid))
    S = len(states) + 1  # the last one is the end
    P, R = np.zeros((S, 6, S)), np.zeros((S, 6))
    P[-1, :, -1] = 1.0
    for s, a, there, paid in edges:
        P[s, a, S - 1 if there is None else number_of[there]] = 1.0
        R[s, a] = paid
    layout = np.full((len(PANELS), SIZE, SIZE), -1, np.int32)
    for s, h in enumerate(states):
        layout[PANELS.index((h.facing, h.gold, h.arrow, h.wumpus)), SIZE - 1 - h.y, h.x] = s
    layout = layout[(layout >= 0).any(axis=(1, 2))]
    mdp = TabularMDP.from_dense(P, R, discount, terminal=(S - 1,))
    setting = Setting(f"flat:1/{S}", steps=STEPS, optimum=OPTIMUM if seed is None else None)
    return MDPWorld("wumpus", mdp, setting, ("forward", "left", "right", "grab", "shoot", "climb"), layout)


PANELS = [
    (f, g, a, w) for g in (False, True) for a, w in ((True, True), (False, True), (False, False)) for f in range(4)
]


def follow(cave: Cave, hunter: Hunter, action: int) -> tuple[Hunter | None, float]:
    """The state after an action, None at the end, and the reward."""
    x, y = hunter.x, hunter.y
    if action == FORWARD:
        there = x + DX[hunter.facing], y + DY[hunter.facing]
        if not (0 <= there[0] < SIZE and 0 <= there[1] < SIZE):
            return hunter, COST
        if there in cave.pits or (there == cave.wumpus and hunter.wumpus):
            return None, COST + DEATH
        return hunter._replace(x=there[0], y=there[1]), COST
    if action in (LEFT, RIGHT):
        return hunter._replace(facing=(hunter.facing + (1 if action == LEFT else 3)) % 4), COST
    if action == GRAB:
        return hunter._replace(gold=hunter.gold or (x, y) == cave.gold), COST
    if action == SHOOT:
        if not hunter.arrow:
            return hunter, COST
        flies = [(x + i * DX[hunter.facing], y + i * DY[hunter.facing]) for i in range(1, SIZE)]
        return hunter._replace(arrow=False, wumpus=cave.wumpus not in flies), COST + ARROW
    if (x, y) != (0, 0):
        return hunter, COST
    return None, COST + (GOLD if hunter.gold else 0.0)


def drawn(rng: Generator) -> Cave:
    """A random map. Neither wumpus nor gold lies in a pit; they may share a cell."""
    others = [(x, y) for x in range(SIZE) for y in range(SIZE) if (x, y) != (0, 0)]
    wumpus, gold = (others[int(i)] for i in rng.integers(len(others), size=2))
    pits = frozenset(c for c, u in zip(others, rng.random(len(others)), strict=True) if u < PITS)
    return Cave(wumpus, gold, pits - {wumpus, gold})
