"""The mountain car (Moore 1990; constants of Gymnasium's MountainCar-v0; survey §5.1).

A car in a valley is too weak to drive straight up. Position in [-1.2, .6], velocity in [-.07, .07]; actions push left,
nothing, right: velocity += .001 (a - 1) - .0025 cos(3 position). It starts at rest in [-.6, -.4] and ends at .5; each
step costs 1. Observations are scaled to the unit square.
"""

from __future__ import annotations

import math
from typing import Annotated, ClassVar

import numpy as np
from numpy.random import Generator

from bayesrl.checks import Floats, array, frozen, generator
from bayesrl.core import WorldStep
from bayesrl.parameters import DISCOUNT, AtLeast, value
from bayesrl.registry import register
from bayesrl.worlds.continuous._box import Bounds, BoxWorld, check_action
from bayesrl.worlds.settings import Setting

LOW, HIGH = np.array([-1.2, -0.07]), np.array([0.6, 0.07])
GOAL = 0.5


@register(
    "mountain-car",
    kind="world",
    survey="5.1",
    evidence=("tests/worlds/continuous/test_continuous.py::test_mountain_car_is_gymnasiums",),
)
@value
class MountainCar(BoxWorld):
    """An underpowered car in a valley: swing to gain speed. Each step costs 1.

    Examples
    --------
    >>> world = MountainCar()
    >>> state, seen = world.reset(np.random.default_rng(0))
    >>> world.step(state, 2, np.random.default_rng(0)).reward
    -1.0
    """

    gamma: Annotated[float, DISCOUNT, "Discount."] = 0.99
    horizon: Annotated[int, AtLeast(1), "Steps after which an episode is cut off."] = 200
    registered: ClassVar[str] = "mountain-car"
    setting: ClassVar[Setting] = Setting(steps=20_000)  # type: ignore[misc]  # one for all
    n_actions: ClassVar[int] = 3

    @property
    def observations(self) -> Bounds:
        """The unit square."""
        return Bounds.of([0.0, 0.0], [1.0, 1.0])

    @property
    def actions(self) -> int:
        """Left, nothing, right."""
        return self.n_actions

    def reset(self, rng: Generator) -> tuple[Floats, Floats]:
        """At rest, near the bottom."""
        state = frozen(np.array([generator("mountain-car", rng).uniform(-0.6, -0.4), 0.0]))
        return state, self.observe(state)

    def step(self, state: Floats, action: int, rng: Generator) -> WorldStep:
        """One push."""
        a = check_action("mountain-car", self.n_actions, action)
        position, velocity = (float(x) for x in array("mountain-car", "state", state, (2,)))
        velocity = min(max(velocity + 0.001 * (a - 1) - 0.0025 * math.cos(3.0 * position), LOW[1]), HIGH[1])
        position = min(max(position + velocity, LOW[0]), HIGH[0])
        if position == LOW[0] and velocity < 0.0:
            velocity = 0.0
        new = frozen(np.array([position, velocity]))
        return WorldStep(new, self.observe(new), -1.0, position >= GOAL)

    def observe(self, state: Floats) -> Floats:
        """Position and velocity scaled to the unit square."""
        return frozen((state - LOW) / (HIGH - LOW))
