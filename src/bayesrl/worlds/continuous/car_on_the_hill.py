"""The car on the hill (Moore and Atkeson 1995; numbers of a re-implementation of Rasmussen and Kuss 2004; survey §5.1).

The slope of the hill is 2x + 1 for x < 0 and (1 + 5 x^2)^-3/2 for x >= 0. The acceleration is a - 9.81 sin(atan slope)
with a in [-4, 4]; a step lasts .3 s: x += .3 v + .045 acc, v += .3 acc. The reward is exp(-q/2) with q the squared
distance to the target (.6, 0) in units of `width`. It starts at (-.5, 0).
"""

from __future__ import annotations

import math
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.random import Generator

from bayesrl.checks import Floats, array, frozen
from bayesrl.core import WorldStep
from bayesrl.parameters import DISCOUNT, Above, AtLeast, value
from bayesrl.registry import register
from bayesrl.worlds.continuous._box import WIDE, Bounds, BoxWorld, check_action
from bayesrl.worlds.settings import Setting

TARGET, REACH = np.array([0.6, 0.0]), np.array([1.2, 2.4])


@register(
    "car-on-the-hill",
    kind="world",
    survey="5.1",
    paper="Rasmussen04GP",
    evidence=("tests/worlds/continuous/test_continuous.py::test_car_on_the_hill_by_hand",),
)
@value
class CarOnTheHill(BoxWorld):
    """A car that must swing back to climb a hill, and stop near its top.

    Examples
    --------
    >>> world = CarOnTheHill()
    >>> state, _ = world.reset(np.random.default_rng(0))
    >>> world.step(state, [4.0], np.random.default_rng(0)).state.round(3).tolist()
    [-0.32, 1.2]
    """

    gamma: Annotated[float, DISCOUNT, "Discount."] = 0.9
    horizon: Annotated[int, AtLeast(1), "Steps after which an episode is cut off."] = 30
    width: Annotated[float, Above(0.0), "Width of the reward in both coordinates."] = 0.1
    ends: ClassVar[bool] = False
    registered: ClassVar[str] = "car-on-the-hill"
    setting: ClassVar[Setting] = Setting(steps=300)  # type: ignore[misc]  # one for all

    @property
    def observations(self) -> Bounds:
        """Position and velocity, which have no bounds; the support is [-1, 1] x [-2, 2]."""
        return Bounds.of([-WIDE, -WIDE], [WIDE, WIDE])

    @property
    def actions(self) -> Bounds:
        """The push."""
        return Bounds.of([-4.0], [4.0])

    def reset(self, rng: Generator) -> tuple[Floats, Floats]:
        """At rest in the valley."""
        state = frozen(np.array([-0.5, 0.0]))
        return state, state

    def step(self, state: Floats, action: Any, rng: Generator) -> WorldStep:
        """One push of .3 s."""
        push = float(check_action("car-on-the-hill", self.actions, action)[0])
        x, v = (float(one) for one in array("car-on-the-hill", "state", state, (2,), moderate=True))
        slope = 2.0 * x + 1.0 if x < 0.0 else (1.0 + 5.0 * x * x) ** -1.5
        acceleration = push - 9.81 * math.sin(math.atan(slope))
        new = frozen(np.array([x + 0.3 * v + 0.045 * acceleration, v + 0.3 * acceleration]))
        q = float(np.sum(((new - TARGET) / self.width) ** 2))
        return WorldStep(new, new, math.exp(-0.5 * q), False)
