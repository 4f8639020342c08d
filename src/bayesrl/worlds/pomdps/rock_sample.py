"""RockSample(n, k) (Smith and Simmons 2004): which of k rocks on an n x n map are worth a visit?

Each rock is good or bad with probability 1/2. Actions: 0 north (y + 1), 1 east (x + 1), 2 south, 3 west, 4 + i check
rock i from afar, 4 + k sample. Leaving by the east edge pays 10 and ends the episode. Crossing another edge, or
sampling where there is no rock, costs 100 and ends it too. Sampling a good rock pays 10, a bad one costs 10, and it is
bad afterwards. A check is right with probability (1 + 2^(-d / d0)) / 2 at distance d. All else shows "good" (0).

State (x n + y) 2^k + sum_i good_i 2^i; the last state is the end. Where a table fits, the world is one: what is
possible is listed, so that (11, 11) with its 247809 states is made in seconds, in about half a GB. That is the limit
(LARGEST_TABLE pairs of a state and an action). Beyond it the world is a compiled generative model (`_rocks.py`), and
beliefs are particles: (15, 15) has 7.4 million states, and a table would have 147 million pairs and take 18 GB.

Maps: those up to (11, 11) are in public code of several authors. (15, 15) is that of public code of DESPOT in Julia:
its (11, 11) with four more rocks. There is no agreed one: Silver and Veness's code draws it by the C library's random
numbers, and a public variant of that code has yet another. `seed` draws a map of any size by numpy's.

Legal are actions that do not cost 100: the past always tells which they are, and another one is never optimal. Searches
on the world's prior try no others. Rollouts may prefer those that do not check a rock (`rollout="preferred"` of POMCP).

What the Bayes-adaptive version leaves unknown is ours: how often a check is right, tied over all checks from the same
distance, with counts (3, 1) of right and wrong.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
from numpy.random import default_rng

from bayesrl.checks import integer, number, truth
from bayesrl.errors import InvalidArgument
from bayesrl.models.pomdp import ObservationOutcomes
from bayesrl.parameters import DISCOUNT, AtLeast
from bayesrl.registry import register
from bayesrl.worlds.hidden import LARGE, POMDPWorld
from bayesrl.worlds.pomdps._rocks import (
    BAD,
    FORBIDDEN,
    GOOD,
    LARGEST_SIZE,
    LEFT,
    MOST_ROCKS,
    GenerativeRockSample,
    Map,
    bounds,
    distances,
    drawn,
    names_of,
    rocks_of,
)
from bayesrl.worlds.pomdps._tables import listed_pomdp

NAME = "rock-sample"
RIGHT, WRONG = 3.0, 1.0
LARGEST_TABLE = 2**22
"""Pairs of a state and an action. A table of this size takes half a GB."""

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
    (15, 15): Map(
        (0, 9), ((0, 7), (0, 11), (1, 12), (2, 8), (3, 7), (3, 12), (4, 7), (5, 12), (6, 5), (9, 7), (9, 13), (11, 6),
        (13, 4), (14, 5), (12, 12)), 20.0,
    ),
}  # fmt: skip
"""By (n, k)."""


@register(
    NAME,
    kind="world",
    survey="4.3",
    paper="smith04",
    evidence=(
        "tests/worlds/pomdps/test_pomdp_worlds.py::test_rock_sample_follows_the_rule",
        "tests/worlds/pomdps/test_pomdp_worlds.py::test_hidden_world_laws",
    ),
)
def rock_sample(
    size: Annotated[int, AtLeast(1), "Cells on each side of the map, n."] = 4,
    rocks: Annotated[int, AtLeast(1), "Number of rocks, k."] = 4,
    gamma: Annotated[float, DISCOUNT, "Discount."] = 0.95,
    seed: Annotated[int | None, AtLeast(0), "Draws a random map; None: the published one."] = None,
    table: Annotated[
        bool | None, "Whether the world is a table or a generative model; None: a table if it fits."
    ] = None,
) -> POMDPWorld | GenerativeRockSample:
    """A rover that samples rocks: check them from afar, visit the good ones, and leave by the east edge.

    Maps (n, k): (4, 4), (5, 5), (5, 7), (7, 8), (10, 10), (11, 11) and (15, 15), and random ones. The start of (4, 4)
    has the optimal value 17.9245. (15, 15) is a generative model: plan in it by `pomcp` on particles.

    Examples
    --------
    >>> rock_sample().pomdp
    TabularPOMDP(states=257, actions=9, observations=2, gamma=0.95)
    >>> rock_sample(15, 15).n_states
    7372801
    """
    n, k = integer(NAME, "size", size, 1, LARGEST_SIZE), integer(NAME, "rocks", rocks, 1, MOST_ROCKS)
    discount = number(NAME, "gamma", gamma, 0.0, 1.0)
    if seed is not None:
        integer(NAME, "rocks", k, 1, min(n * n, MOST_ROCKS))
        chart = drawn(n, k, default_rng(integer(NAME, "seed", seed, 0, any_length=True)))
    elif (n, k) in MAPS:
        chart = MAPS[n, k]
    else:
        known = ", ".join(f"({i}, {j})" for i, j in MAPS)
        hint = "With a `seed` a map is drawn."
        raise InvalidArgument(NAME, "size, rocks", f"one of the published maps {known}", (n, k), hint)
    fits = ((n * n << k) + 1) * (k + 5) <= LARGEST_TABLE
    wanted = fits if table is None else truth(NAME, "table", table)
    if wanted and not fits:
        raise InvalidArgument(NAME, "table", f"false beyond {LARGEST_TABLE} pairs of a state and an action", table)
    return tabled(n, chart, discount) if wanted else GenerativeRockSample(n, chart, discount)


def tabled(n: int, chart: Map, gamma: float) -> POMDPWorld:
    """The world as a table."""
    k, C, by_cell = len(chart.rocks), n * n, rocks_of(n, chart)
    end, kinds, A, sample = C << k, 1 << k, k + 5, k + 4
    s = np.arange(end)
    cell, good = s >> k, s % kinds
    succ, R = np.full((end + 1, A), end), np.zeros((end + 1, A))
    to, rock = by_cell.to[cell], by_cell.rock[cell]
    succ[:end, :4] = np.where(to == C, end, (to << k) + good[:, None])
    R[:end, :4] = np.where(to == C, [FORBIDDEN, LEFT, FORBIDDEN, FORBIDDEN], 0.0)
    succ[:end, 4:sample] = s[:, None]
    is_good = np.where(rock >= 0, good >> np.maximum(rock, 0) & 1, 0)
    succ[:end, sample] = np.where(rock >= 0, s - (is_good << np.maximum(rock, 0)), end)
    R[:end, sample] = np.where(rock >= 0, np.where(is_good, GOOD, BAD), FORBIDDEN)
    _, first, which = np.unique(distances(n, chart).round(9), return_index=True, return_inverse=True)
    group, observation = np.zeros((end + 1, A), np.int64), np.zeros((end + 1, A, 2), np.int64)  # group 0 shows 0
    group[:end, 4:sample] = which.reshape(C, k)[cell] + 1
    observation[:end, 4:sample, 0] = 1 - (good[:, None] >> np.arange(k) & 1)  # the right answer: 0 if the rock is good
    observation[:end, 4:sample, 1] = 1 - observation[:end, 4:sample, 0]
    right = by_cell.right.ravel()[first]
    rows = [[1.0], *([p, 1.0 - p] for p in right.tolist())]
    observed = ObservationOutcomes(observation, group, np.array([1, *[2] * len(right)]), 2)
    start = np.zeros(end + 1)
    start[(by_cell.start << k) + np.arange(kinds)] = 1.0 / kinds
    legal = by_cell.legal[np.append(cell, C)]
    worth = legal.copy()
    worth[:, 4:sample] = False  # a rollout learns nothing, so it checks nothing
    few = (end + 1) * A * 2 <= LARGE
    value = chart.value if gamma == 0.95 else None
    return POMDPWorld(
        NAME,
        listed_pomdp(
            succ[:, :, None], np.zeros((end + 1, A), np.int64), [[1.0]], observed, rows, R, gamma, start, (end,)
        ),
        actions=names_of(k),
        observations=("good", "bad"),
        bracket=bounds(n, chart, gamma) if value is None and not few else value,
        observation_counts=np.array([[0.0, 0.0], *[[RIGHT, WRONG]] * len(right)]),
        preferred=worth,
        legal=legal,
    )
