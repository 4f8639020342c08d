"""Driving on a highway (Abbeel and Ng 2004; Choi and Kim 2011; survey §7.2).

Our car has speed 1 or 2 and is in one of three lanes. Each lane holds at most one other car, at position 2 to 8;
position 1 means that there is none. In a step the other cars come down by our speed and leave after position 8. A lane
that was empty before the step gets a car at position 2 with probability .4, .6 or .8, but only if this happens in no
other lane at the same time. Actions are nothing, left, right, faster and slower. At speed 1 they always succeed. At
speed 2 a change of lane succeeds with probability .4 and a change of speed with .8. What an action changes counts from
the next step on. A state pays the weights of its features: a collision (a car at position 5, 6 or 7 in our lane), our
lane (3) and our speed (2). Episodes start at speed 1, in the middle lane, on an empty road.

Provenance: found in Choi and Kim's public code. Which draws of new cars are dropped, that emptiness is judged before
the move, and that cars move by the old speed were fixed by the three computed optimal values.
"""

from __future__ import annotations

from itertools import product
from typing import Any, Literal

import numpy as np
from scipy import sparse

from bayesrl.checks import Floats, Ints, choice, frozen, number
from bayesrl.models.mdp import TabularMDP
from bayesrl.registry import register
from bayesrl.worlds.settings import Setting
from bayesrl.worlds.tasks._featured import FeaturedWorld

ACTIONS = ("nothing", "left", "right", "faster", "slower")
STYLES = {
    "fast": (-1.0, 0.0, 0.0, 0.0, 0.0, 0.1),
    "safe": (-1.0, 0.0, 0.0, 0.1, 0.0, 0.0),
    "demolition": (1.0, 0.0, 0.0, 0.0, 0.0, 0.1),
}
"""The wishes of drivers: weights of collision, lanes and speeds."""
ARRIVES = (0.4, 0.6, 0.8)
"""Probability that an empty lane draws a car."""
SHAPE = (2, 3, 8, 8, 8)
"""Speeds, lanes, and positions of the car in each lane."""


@register(
    "highway",
    kind="world",
    survey="7.2",
    paper="Choi11MA",
    evidence=(
        "tests/worlds/tasks/test_highway.py::test_values_of_the_facts",
        "tests/worlds/tasks/test_highway.py::test_moves_by_hand",
    ),
)
def highway(style: Literal["fast", "safe", "demolition"] = "fast", gamma: float = 0.9) -> FeaturedWorld:
    """A highway with 3072 states, and a driver who likes speed, the right lane, or collisions.

    `features` (S, 6) are collision, lanes and speeds, and `weights` (6,) what the driver wants.

    Examples
    --------
    >>> world = highway("safe")
    >>> world.features.shape, world.weights.tolist()
    ((3072, 6), [-1.0, 0.0, 0.0, 0.1, 0.0, 0.0])
    """
    weights = np.array(STYLES[choice("highway", "style", style, tuple(STYLES))])
    gamma = number("highway", "gamma", gamma, 0.0, 1.0, below=True)
    speed, lane, *cars = np.unravel_index(np.arange(np.prod(SHAPE)), SHAPE)
    road = np.stack(cars, axis=1)  # position - 1 of the car in each lane, (S, 3)
    ahead = road[np.arange(len(road)), lane] + 1
    features = np.column_stack([(ahead >= 5) & (ahead <= 7), np.eye(3)[lane], np.eye(2)[speed]]).astype(np.float64)
    matrices = [moves(a, speed, lane, road) for a in range(len(ACTIONS))]
    start = int(np.ravel_multi_index((0, 1, 0, 0, 0), SHAPE))
    mdp = TabularMDP.from_sparse(matrices, features @ weights, gamma, start)
    return FeaturedWorld("highway", mdp, Setting(steps=600), ACTIONS, None, features, frozen(weights))


def moves(a: int, speed: Ints, lane: Ints, road: Ints) -> Any:
    """Transition probabilities of an action, (S, S)."""
    S = len(road)
    new_speed = {3: np.ones_like(speed), 4: np.zeros_like(speed)}.get(a, speed)
    new_lane = np.clip(lane + {1: -1, 2: 1}.get(a, 0), 0, 2)
    succeeds = np.where(speed == 0, 1.0, {1: 0.4, 2: 0.4, 3: 0.8, 4: 0.8}.get(a, 1.0))
    moved = road + speed[:, None] + 1
    moved = np.where((road == 0) | (moved > 7), 0, moved)
    y, p = [], []
    for changed, new in product((True, False), (None, 0, 1, 2)):  # whether the action succeeds, lane of a new car
        after = moved if new is None else np.where(np.arange(3) == new, 1, moved)
        v, l = (new_speed, new_lane) if changed else (speed, lane)
        y.append(np.ravel_multi_index((v, l, *after.T), SHAPE))
        p.append((succeeds if changed else 1.0 - succeeds) * arrival(road == 0, new))
    P: Any = sparse.csr_array((np.concatenate(p), (np.tile(np.arange(S), len(y)), np.concatenate(y))), shape=(S, S))
    P.eliminate_zeros()
    return P


def arrival(empty: Ints, new: int | None) -> Floats:
    """Probability that the only car arrives in lane `new`; if it is None, that none or several would, (S,)."""
    drawn = np.where(empty, ARRIVES, 0.0)
    only = [drawn[:, i] * np.delete(1.0 - drawn, i, axis=1).prod(axis=1) for i in range(3)]
    return np.asarray(1.0 - sum(only) if new is None else only[new])
