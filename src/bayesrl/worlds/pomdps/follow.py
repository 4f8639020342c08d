"""Follow (Ross, Chaib-draa and Pineau 2008): keep up with one of two persons who walk differently.

A state is the person, 0 or 1, drawn at the start and never seen, and the person's position relative to the robot in a
5 x 5 square. Robot and person move at once: not at all, or one cell N, E, S or W. The robot's move is certain, the
person's is drawn, with probabilities of that person. Leaving the square costs 20 and ends the episode; otherwise
the distance after the step pays 1, 0 or -1 at 0, 1 or 2. The robot sees the direction of the person (same, N, E, S, W)
with probability .8, nothing otherwise.

The set-up is recalled, not read. Ours are: the distance (the larger of |dx| and |dy|), the direction (that of the
larger component, the vertical one if both are equal), the start (the same cell, either person), and that nothing is
seen of a person who is lost.

Unknown are the two persons' probabilities. Their counts are tied over all positions and moves of the robot, and follow
the person's move, not the next state: several moves may lead to "lost".
"""

from __future__ import annotations

from itertools import product
from typing import Annotated

import numpy as np

from bayesrl.checks import number
from bayesrl.parameters import DISCOUNT
from bayesrl.registry import register
from bayesrl.worlds.hidden import POMDPWorld
from bayesrl.worlds.pomdps._tables import listed_pomdp, observations_by_state

MOVES = ((0, 0), (0, 1), (1, 0), (0, -1), (-1, 0))
NAMES = ("none", "N", "E", "S", "W")
PERSONS = [[0.3, 0.4, 0.2, 0.05, 0.05], [0.1, 0.05, 0.8, 0.03, 0.02]]
COUNTS = [[2.0, 3.0, 1.0, 2.0, 2.0], [2.0, 1.0, 3.0, 2.0, 2.0]]
FAR, SEEN, LOST = 2, 0.8, 50
BRACKET = (2.9207, 4.4714)
"""Of the optimal value of the start at discount .9: `pbvi` on 900 beliefs, and the fast informed bound."""
UNSEEN = 5


@register(
    "follow",
    kind="world",
    survey="4.9",
    paper="ross08icra",
    evidence=(
        "tests/worlds/pomdps/test_pomdp_worlds.py::test_follow_by_hand",
        "tests/worlds/pomdps/test_pomdp_worlds.py::test_hidden_world_laws",
    ),
)
def follow(gamma: Annotated[float, DISCOUNT, "Discount."] = 0.9) -> POMDPWorld:
    """A robot that follows one of two persons, and does not know which of them.

    State 25 person + 5 (dx + 2) + (dy + 2); state 50 is "lost". The optimal value of the start is between 2.9207 and
    4.4714.

    Examples
    --------
    >>> from numpy.random import default_rng
    >>> follow().reset(default_rng(0))
    (37, -1)
    """
    discount = number("follow", "gamma", gamma, 0.0, 1.0)
    succ, group = np.full((LOST + 1, 5, 5), LOST), np.full((LOST + 1, 5), 2)
    R, shown = np.full((LOST + 1, 5, LOST + 1), -20.0), np.zeros((LOST + 1, 6))
    shown[LOST, UNSEEN] = 1.0
    for person, dx, dy in product(range(2), range(-FAR, FAR + 1), range(-FAR, FAR + 1)):
        s = place(person, dx, dy)
        group[s] = person
        R[:, :, s] = 1.0 - max(abs(dx), abs(dy))
        shown[s, [direction(dx, dy), UNSEEN]] = SEEN, 1.0 - SEEN
        for (a, (rx, ry)), (k, (px, py)) in product(enumerate(MOVES), enumerate(MOVES)):
            succ[s, a, k] = place(person, dx + px - rx, dy + py - ry)
    observed, rows = observations_by_state(shown, 5)
    start = np.zeros(LOST + 1)
    start[[place(0, 0, 0), place(1, 0, 0)]] = 0.5
    return POMDPWorld(
        "follow",
        listed_pomdp(succ, group, [*PERSONS, [1.0]], observed, rows, R, discount, start, (LOST,)),
        states=(*(f"{s // 25}-{s // 5 % 5 - FAR}-{s % 5 - FAR}".replace("--", "-m") for s in range(LOST)), "lost"),
        actions=NAMES,
        observations=("same", *NAMES[1:], "unseen"),
        bracket=BRACKET if discount == 0.9 else None,
        transition_counts=np.array([*COUNTS, [0.0] * 5]),
    )


def place(person: int, dx: int, dy: int) -> int:
    """The number of a state."""
    return LOST if max(abs(dx), abs(dy)) > FAR else 25 * person + 5 * (dx + FAR) + dy + FAR


def direction(dx: int, dy: int) -> int:
    """Same, N, E, S or W."""
    if dx == dy == 0:
        return 0
    return (1 if dy > 0 else 3) if abs(dy) >= abs(dx) else (2 if dx > 0 else 4)
