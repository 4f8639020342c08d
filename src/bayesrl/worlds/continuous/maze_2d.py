"""A maze in the plane (after Engel, Mannor, Meir 2005; survey §5.1).

The unit square with walls. A step of length .1 goes in a direction, with noise of standard deviation .05 in each
coordinate; a bump leaves you where you are. Each step costs 1 until the goal region is reached. There are eight
directions, or any unit vector (`directions=None`).

The papers describe the maze in outline; the walls and the goal are ours: the goal is the corner [.8, 1]^2, and two
walls leave gaps at the top and at the bottom.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.random import Generator

from bayesrl.checks import Floats, array, frozen, generator
from bayesrl.core import WorldStep
from bayesrl.errors import InvalidArgument
from bayesrl.parameters import DISCOUNT, AtLeast, value
from bayesrl.registry import register
from bayesrl.worlds.continuous._box import Bounds, BoxWorld, check_action
from bayesrl.worlds.settings import Setting

LENGTH, NOISE = 0.1, 0.05
GOAL = 0.8
WALLS = ((0.35, 0.0, 0.6), (0.65, 0.4, 1.0))
"""Vertical walls: x, and y from and to."""


@register(
    "maze-2d",
    kind="world",
    survey="5.1",
    paper="Engel05RL",
    evidence=("tests/worlds/continuous/test_continuous.py::test_maze_by_hand",),
)
@value
class Maze2D(BoxWorld):
    """A maze in the unit square: steps in a direction, noise, walls; each step costs 1.

    Examples
    --------
    >>> world = Maze2D()
    >>> world.step(np.array([0.1, 0.5]), 0, np.random.default_rng(0)).reward
    -1.0
    """

    directions: Annotated[int | None, AtLeast(2), "Number of directions; None: any unit vector."] = 8
    gamma: Annotated[float, DISCOUNT, "Discount."] = 0.9
    horizon: Annotated[int, AtLeast(1), "Steps after which an episode is cut off."] = 1000
    registered: ClassVar[str] = "maze-2d"
    setting: ClassVar[Setting] = Setting(steps=10_000)  # type: ignore[misc]  # one for all

    @property
    def n_actions(self) -> int | None:
        """The number of directions, if they are counted."""
        return self.directions

    @property
    def observations(self) -> Bounds:
        """The unit square."""
        return Bounds.of([0.0, 0.0], [1.0, 1.0])

    @property
    def actions(self) -> Bounds | int:
        """A direction."""
        return Bounds.of([-1.0, -1.0], [1.0, 1.0]) if self.directions is None else self.directions

    @property
    def vectors(self) -> Floats:
        """The listed directions as unit vectors, shape (n, 2)."""
        n = self.directions or 0
        angle = 2.0 * math.pi * np.arange(n) / max(n, 1)
        return np.column_stack([np.cos(angle), np.sin(angle)])

    def reset(self, rng: Generator) -> tuple[Floats, Floats]:
        """Anywhere outside the goal region."""
        random = generator("maze-2d", rng)
        place = random.random(2)
        while (place >= GOAL).all():
            place = random.random(2)
        return frozen(place), frozen(place)

    def step(self, state: Floats, action: Any, rng: Generator) -> WorldStep:
        """One step in a direction."""
        if self.directions is None:
            way = array("maze-2d", "action", action, (2,))
            if abs(float(way @ way) - 1.0) > 1e-6:
                raise InvalidArgument("maze-2d", "action", "a unit vector", action)
        else:
            way = self.vectors[check_action("maze-2d", self.directions, action)]
        here = array("maze-2d", "state", state, (2,))
        there = here + LENGTH * way + NOISE * generator("maze-2d", rng).standard_normal(2)
        new = here if bumps(here, there) else frozen(there)
        return WorldStep(new, new, -1.0, bool((new >= GOAL).all()))


def bumps(a: Floats, b: Floats) -> bool:
    """Whether the way from a to b leaves the square or crosses a wall."""
    if (b < 0.0).any() or (b > 1.0).any():
        return True
    for x, low, high in WALLS:
        if (a[0] - x) * (b[0] - x) < 0.0:
            y = a[1] + (b[1] - a[1]) * (x - a[0]) / (b[0] - a[0])
            if low <= y <= high:
                return True
    return False
