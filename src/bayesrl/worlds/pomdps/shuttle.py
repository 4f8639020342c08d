"""The shuttle (Chrisman 1992): two space stations, freight from one to the other, and an engine that may fail.

Turning around and going forward are certain; going back is not. The numbers are those of the public file. Its eight
states and what is seen in them:

    0 docked at the least visited station (4)          4 in space, facing the most visited station (3)
    1 in front of the most visited one, facing it (1)  5 in front of the least visited one, facing away (0 or 3)
    2 in space, facing the least visited one (1 or 3)  6 in front of the most visited one, facing away (0)
    3 in front of the least visited one, its back (3)  7 docked at the most visited station (2)

Backing into the least visited station pays 10, bumping into a station forwards costs 3. What the Bayes-adaptive
version leaves unknown is ours: the rows of going back, with one count for each state that is possible. That is all
that is random about the moves.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from bayesrl.checks import number
from bayesrl.parameters import DISCOUNT
from bayesrl.registry import register
from bayesrl.worlds.hidden import POMDPWorld
from bayesrl.worlds.pomdps._tables import listed_pomdp, observations_by_state, padded

TURN = (1, 4, 5, 6, 1, 2, 3, 1)
FORWARD = (4, 1, 1, 2, 5, 6, 6, 4)
BACK: tuple[dict[int, float], ...] = (
    {7: 1.0}, {1: 0.4, 2: 0.3, 4: 0.3}, {2: 0.1, 3: 0.8, 6: 0.1}, {0: 0.7, 3: 0.3},
    {4: 0.3, 7: 0.7}, {1: 0.1, 4: 0.8, 5: 0.1}, {3: 0.3, 5: 0.3, 6: 0.4}, {7: 1.0},
)  # fmt: skip
SEEN: tuple[dict[int, float], ...] = (
    {4: 1.0}, {1: 1.0}, {1: 0.7, 3: 0.3}, {3: 1.0}, {3: 1.0}, {0: 0.7, 3: 0.3}, {0: 1.0}, {2: 1.0}
)  # fmt: skip
VALUE = 32.8897
"""The optimal value of the start at discount .95, to four digits."""


@register(
    "shuttle",
    kind="world",
    survey="2.3",
    paper="chrisman92",
    evidence=(
        "tests/worlds/pomdps/test_pomdp_worlds.py::test_shuttle_by_hand",
        "tests/worlds/pomdps/test_pomdp_worlds.py::test_hidden_world_laws",
    ),
)
def shuttle(gamma: Annotated[float, DISCOUNT, "Discount."] = 0.95) -> POMDPWorld:
    """A space shuttle that carries freight between two stations and sees little of where it is.

    The optimal value of the start, docked at the most visited station, is 32.8897.

    Examples
    --------
    >>> shuttle().pomdp
    TabularPOMDP(states=8, actions=3, observations=5, gamma=0.95)
    """
    discount = number("shuttle", "gamma", gamma, 0.0, 1.0)
    succ, group = np.zeros((8, 3, 3), np.int64), np.zeros((8, 3), np.int64)  # group 0 is what is certain
    rows, R = [[1.0]], np.zeros((8, 3, 8))
    for s in range(8):
        succ[s, 0, 0], succ[s, 1, 0] = TURN[s], FORWARD[s]
        succ[s, 2, : len(BACK[s])] = list(BACK[s])
        if len(BACK[s]) > 1:
            group[s, 2] = len(rows)
            rows.append(list(BACK[s].values()))
    R[1, 1, 1] = R[6, 1, 6] = -3.0
    R[3, 2, 0] = 10.0
    observed, shown = observations_by_state([[seen.get(o, 0.0) for o in range(5)] for seen in SEEN], 3)
    return POMDPWorld(
        "shuttle",
        listed_pomdp(succ, group, rows, observed, shown, R, discount, np.eye(8)[7]),
        actions=("turn-around", "forward", "back"),
        observations=("rear-most-visited", "front", "docked-most-visited", "nothing", "docked-least-visited"),
        bracket=(VALUE - 5e-5, VALUE + 5e-5) if discount == 0.95 else None,
        transition_counts=padded([[0.0], *([1.0] * len(row) for row in rows[1:])]),
    )
