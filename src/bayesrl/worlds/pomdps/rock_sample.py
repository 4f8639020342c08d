"""RockSample(n, k) (Smith and Simmons 2004): which of k rocks on an n x n map are worth a visit?

Each rock is good or bad with probability 1/2. Actions: 0 north (y + 1), 1 east (x + 1), 2 south, 3 west, 4 + i check
rock i from afar, 4 + k sample. Leaving by the east edge pays 10 and ends the episode. Crossing another edge, or
sampling where there is no rock, costs 100 and ends it too. Sampling a good rock pays 10, a bad one costs 10, and it is
bad afterwards. A check is right with probability (1 + 2^(-d / d0)) / 2 at distance d. All else shows "good" (0).

State (x n + y) 2^k + sum_i good_i 2^i; the last state is the end. The maps are the published ones. All of them are
tables: what is possible is listed, so that (11, 11) with its 247809 states is made in seconds, in about half a GB.

Rollouts may prefer actions that neither cost 100 nor check a rock (`wander="preferred"` of POMCP).

What the Bayes-adaptive version leaves unknown is ours: how often a check is right, tied over all checks from the same
distance, with counts (3, 1) of right and wrong.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from bayesrl.checks import integer, number
from bayesrl.errors import InvalidArgument
from bayesrl.models.pomdp import Signs
from bayesrl.parameters import DISCOUNT, AtLeast
from bayesrl.registry import register
from bayesrl.worlds.hidden import POMDPWorld
from bayesrl.worlds.pomdps._tables import listed_pomdp

DX, DY = np.array([0, 1, 0, -1]), np.array([1, 0, -1, 0])
RIGHT, WRONG = 3.0, 1.0


class Map(NamedTuple):
    """A published map."""

    start: tuple[int, int]
    rocks: tuple[tuple[int, int], ...]
    half: float
    """The distance d0 at which half the efficiency of a check is lost."""
    value: tuple[float, float]
    """Bounds of the optimal value of the start at discount .95. Wide ones are leaving at once, and rocks seen."""


MAPS = {
    (4, 4): Map((0, 2), ((3, 1), (2, 1), (1, 3), (1, 0)), float(np.log(2.0)), (17.92445, 17.92455)),
    (5, 5): Map((0, 2), ((2, 4), (0, 4), (3, 3), (2, 2), (4, 1)), 4.0, (19.2369, 20.2636)),
    (5, 7): Map((0, 2), ((1, 0), (2, 1), (1, 2), (2, 2), (4, 2), (0, 3), (3, 4)), 20.0, (8.1450, 31.4242)),
    (7, 8): Map(
        (0, 3), ((2, 0), (0, 1), (3, 1), (6, 3), (2, 4), (3, 4), (5, 5), (1, 6)), 20.0, (20.7355, 25.1687)
    ),
    (10, 10): Map(
        (0, 5), ((0, 3), (0, 7), (1, 8), (3, 3), (3, 8), (4, 3), (5, 8), (6, 1), (9, 3), (9, 9)), 20.0,
        (6.3024, 29.7593),
    ),
    (11, 11): Map(
        (0, 5), ((0, 3), (0, 7), (1, 8), (2, 4), (3, 3), (3, 8), (4, 3), (5, 8), (6, 1), (9, 3), (9, 9)), 20.0,
        (5.9873, 31.7580),
    ),
}  # fmt: skip
"""By (n, k)."""


@register(
    "rock-sample",
    kind="world",
    survey="4.3",
    paper="smith04",
    evidence=(
        "tests/worlds/test_pomdp_worlds.py::test_rock_sample_follows_the_rule",
        "tests/worlds/test_pomdp_worlds.py::test_hidden_world_laws",
    ),
)
def rock_sample(
    size: Annotated[int, AtLeast(1), "Cells on each side of the map, n."] = 4,
    rocks: Annotated[int, AtLeast(1), "Number of rocks, k."] = 4,
    gamma: Annotated[float, DISCOUNT, "Discount."] = 0.95,
) -> POMDPWorld:
    """A rover that samples rocks: check them from afar, visit the good ones, and leave by the east edge.

    Maps (n, k): (4, 4), (5, 5), (5, 7), (7, 8), (10, 10) and (11, 11). The start of (4, 4) has the optimal value
    17.9245.

    Examples
    --------
    >>> rock_sample().pomdp
    TabularPOMDP(states=257, actions=9, observations=2, gamma=0.95)
    """
    n, k = integer("rock-sample", "size", size, 1), integer("rock-sample", "rocks", rocks, 1)
    discount = number("rock-sample", "gamma", gamma, 0.0, 1.0)
    if (n, k) not in MAPS:
        known = ", ".join(f"({i}, {j})" for i, j in MAPS)
        raise InvalidArgument("rock-sample", "size, rocks", f"one of the published maps {known}", (n, k))
    chart = MAPS[n, k]
    end, kinds = n * n * 2**k, 2**k
    S, A, sample = end + 1, k + 5, k + 4
    s = np.arange(end)
    cell, good = s // kinds, s % kinds
    x, y = cell // n, cell % n
    succ, R = np.full((S, A), end), np.zeros((S, A))
    for a in range(4):
        there_x, there_y = x + DX[a], y + DY[a]
        inside = (there_x >= 0) & (there_x < n) & (there_y >= 0) & (there_y < n)
        succ[:end, a] = np.where(inside, (there_x * n + there_y) * kinds + good, end)
        R[:end, a] = np.where(inside, 0.0, np.where(there_x == n, 10.0, -100.0))
    succ[:end, 4:sample] = s[:, None]
    R[:end, sample] = -100.0
    distance = np.zeros((n * n, k))
    for i, (rx, ry) in enumerate(chart.rocks):
        here, is_good = cell == rx * n + ry, (good >> i & 1).astype(bool)
        succ[:end, sample] = np.where(here, s - (is_good << i), succ[:end, sample])
        R[:end, sample] = np.where(here, np.where(is_good, 10.0, -10.0), R[:end, sample])
        distance[:, i] = np.hypot(np.arange(n * n) // n - rx, np.arange(n * n) % n - ry)
    distances, which = np.unique(distance.round(9), return_inverse=True)
    group, sign = np.zeros((S, A), np.int64), np.zeros((S, A, 2), np.int64)  # group 0 shows 0
    group[:end, 4:sample] = which.reshape(n * n, k)[cell] + 1
    sign[:end, 4:sample, 0] = 1 - (good[:, None] >> np.arange(k) & 1)  # the right answer: 0 if the rock is good
    sign[:end, 4:sample, 1] = 1 - sign[:end, 4:sample, 0]
    right = (1.0 + 2.0 ** (-distances / chart.half)) / 2.0
    rows = [[1.0], *([p, 1.0 - p] for p in right.tolist())]
    signs = Signs(sign, group, np.array([1, *[2] * len(right)]), 2)
    start = np.zeros(S)
    start[(chart.start[0] * n + chart.start[1]) * kinds + np.arange(kinds)] = 1.0 / kinds
    certain = np.zeros((S, A), np.int64)
    worth = R > -100.0  # a rollout learns nothing, so it checks nothing
    worth[:, 4:sample] = False
    return POMDPWorld(
        "rock-sample",
        listed_pomdp(succ[:, :, None], certain, [[1.0]], signs, rows, R, discount, start, (end,)),
        actions=("north", "east", "south", "west", *(f"check-{i}" for i in range(k)), "sample"),
        observations=("good", "bad"),
        bracket=chart.value if discount == 0.95 else None,
        observation_counts=np.array([[0.0, 0.0], *[[RIGHT, WRONG]] * len(right)]),
        preferred=worth,
    )
