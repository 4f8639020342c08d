"""RiverSwim (Strehl and Littman 2008; the numbers of Osband, Russo and Van Roy 2013; survey §4.4): swim upstream.

Six states in a row. Swimming left (down the river) always succeeds. Swimming right may stay or drift back:

    osband    first state: stays with .4, moves on with .6; in the middle: back .05, stays .6, on .35;
              last state: stays with .6, back .4.    Left in the first state pays .005, right in the last one pays 1.
    strehl    first state: stays with .7, moves on with .3; in the middle: back .1, stays .6, on .3;
              last state: stays with .3, back .7.    These pay 5 and 10000.

The numbers of "osband" are those of the author's public code, in which an episode lasts 20 steps. Those of "strehl" are
recalled from the paper, and so is its start, which is the first or the second state, each half of the time.

A learner who swims left at random soon finds the small reward; the large one needs the right action again and again.
"""

from __future__ import annotations

from typing import Annotated, Literal, NamedTuple

import numpy as np

from bayesrl.checks import choice, number
from bayesrl.models.mdp import TabularMDP
from bayesrl.parameters import DISCOUNT
from bayesrl.registry import register
from bayesrl.worlds.settings import Setting
from bayesrl.worlds.tabular import MDPWorld

LENGTH, STEPS = 6, 1000


class River(NamedTuple):
    """Probabilities of swimming right, (back, stays, on) by place, and the two rewards."""

    first: tuple[float, float, float]
    middle: tuple[float, float, float]
    last: tuple[float, float, float]
    small: float
    large: float
    start: tuple[float, ...]
    optimum: float
    """Over 1000 steps."""


RIVERS = {
    "osband": River((0.0, 0.4, 0.6), (0.05, 0.6, 0.35), (0.4, 0.6, 0.0), 0.005, 1.0, (1.0,), 423.2631370199405),
    "strehl": River((0.0, 0.7, 0.3), (0.1, 0.6, 0.3), (0.7, 0.3, 0.0), 5.0, 10000.0, (0.5, 0.5), 2195543.239819851),
}


@register(
    "river-swim",
    kind="world",
    survey="4.4",
    paper="osband13",
    evidence=(
        "tests/worlds/mdps/test_literature_worlds.py::test_declared_optimum",
        "tests/worlds/mdps/test_literature_worlds.py::test_river_swim_by_hand",
        "tests/worlds/mdps/test_literature_worlds.py::test_samples_match_probabilities",
    ),
)
def river_swim(
    variant: Annotated[Literal["osband", "strehl"], "Whose numbers."] = "osband",
    gamma: Annotated[float, DISCOUNT, "Discount."] = 0.95,
) -> MDPWorld:
    """Six places along a river: a small reward downstream, a large one upstream, against the current.

    Runs last 1000 steps; the optimum is 423.263, and always swimming left earns 5. With the numbers of
    Strehl and Littman it is 2195543.

    Examples
    --------
    >>> river_swim().dense()[0][2, 1]
    array([0.  , 0.05, 0.6 , 0.35, 0.  , 0.  ])
    """
    which = choice("river-swim", "variant", variant, tuple(RIVERS))
    river, discount = RIVERS[which], number("river-swim", "gamma", gamma, 0.0, 1.0)
    left, right = 0, 1
    P, R = np.zeros((LENGTH, 2, LENGTH)), np.zeros((LENGTH, 2))
    for s in range(LENGTH):
        P[s, left, max(s - 1, 0)] = 1.0
        row = river.first if s == 0 else river.last if s == LENGTH - 1 else river.middle
        for there, p in zip((s - 1, s, s + 1), row, strict=True):
            if p > 0.0:
                P[s, right, there] = p
    R[0, left], R[-1, right] = river.small, river.large
    start = np.zeros(LENGTH)
    start[: len(river.start)] = river.start
    setting = Setting("flat:1", steps=STEPS, figures=("RiverSwim", "river_swim"), optimum=river.optimum)
    layout = np.arange(LENGTH).reshape(1, 1, LENGTH)
    mdp = TabularMDP.from_dense(P, R, discount, start)
    return MDPWorld("river-swim", mdp, setting, ("left", "right"), layout)
