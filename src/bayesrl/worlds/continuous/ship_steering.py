"""Ship steering (Miller, Sutton, Werbos 1990; after Ghavamzadeh and Mahadevan 2003; survey §5.3).

A ship sails at speed 3 on [0, 150]^2 and must pass a gate from (100, 120) to (120, 100). State: position, heading,
turning rate. The rudder sets the turning rate with a lag of 5 s: rate += (a - rate) .2 / 5, a in [-pi/12, pi/12]. An
action lasts three inner steps of .2 s. A step costs 1, leaving costs 100, the gate pays 0; both end the episode.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.random import Generator

from bayesrl.checks import Floats, array, frozen
from bayesrl.core import WorldStep
from bayesrl.parameters import DISCOUNT, AtLeast, value
from bayesrl.registry import register
from bayesrl.worlds.continuous._box import Bounds, BoxWorld, check_action
from bayesrl.worlds.settings import Setting

SIDE, SPEED, STEP, LAG, INNER = 150.0, 3.0, 0.2, 5.0, 3
TURN = math.pi / 12.0
GATE = (np.array([100.0, 120.0]), np.array([120.0, 100.0]))


@register(
    "ship-steering",
    kind="world",
    survey="5.3",
    paper="Ghavamzadeh07BA",
    evidence=("tests/worlds/continuous/test_continuous.py::test_ship_by_hand",),
)
@value
class ShipSteering(BoxWorld):
    """Steer a sluggish ship through a gate. Each step costs 1, leaving the sea 100.

    Examples
    --------
    >>> world = ShipSteering()
    >>> state, _ = world.reset(np.random.default_rng(0))
    >>> world.step(state, [0.0], np.random.default_rng(0)).state.round(2).tolist()  # north, three times .6
    [0.0, 1.8, 1.57, 0.0]
    """

    gamma: Annotated[float, DISCOUNT, "Discount."] = 0.99
    horizon: Annotated[int, AtLeast(1), "Steps after which an episode is cut off."] = 5000
    registered: ClassVar[str] = "ship-steering"
    setting: ClassVar[Setting] = Setting(steps=20_000)  # type: ignore[misc]  # one for all

    @property
    def observations(self) -> Bounds:
        """Position, heading and turning rate, each scaled to [0, 1]."""
        return Bounds.of(np.zeros(4), np.ones(4))

    @property
    def actions(self) -> Bounds:
        """The turning rate that the rudder asks for."""
        return Bounds.of([-TURN], [TURN])

    def reset(self, rng: Generator) -> tuple[Floats, Floats]:
        """In the corner, heading north."""
        state = frozen(np.array([0.0, 0.0, 0.5 * math.pi, 0.0]))
        return state, self.observe(state)

    def step(self, state: Floats, action: Any, rng: Generator) -> WorldStep:
        """Three inner steps, or fewer if the ship passes the gate or leaves the sea."""
        asked = float(check_action("ship-steering", self.actions, action)[0])
        x, y, heading, rate = (float(one) for one in array("ship-steering", "state", state, (4,)))
        reward, over = -1.0, False
        for _ in range(INNER):
            before = np.array([x, y])
            x += STEP * SPEED * math.cos(heading)
            y += STEP * SPEED * math.sin(heading)
            heading = (heading + STEP * rate) % (2.0 * math.pi)
            rate += (asked - rate) * STEP / LAG
            if crosses(before, np.array([x, y]), *GATE):
                reward, over = 0.0, True
            elif not (0.0 <= x <= SIDE and 0.0 <= y <= SIDE):
                reward, over = -100.0, True
            if over:
                break
        new = frozen(np.array([x, y, heading, rate]))
        return WorldStep(new, self.observe(new), reward, over)

    def observe(self, state: Floats) -> Floats:
        """The state scaled to the unit cube; outside the sea, the nearest point of it."""
        low = np.array([0.0, 0.0, 0.0, -TURN])
        return frozen(np.clip((state - low) / (np.array([SIDE, SIDE, 2.0 * math.pi, TURN]) - low), 0.0, 1.0))


def crosses(a: Floats, b: Floats, c: Floats, d: Floats) -> bool:
    """Whether the segments ab and cd meet, by the signs of four areas."""

    def side(p: Floats, q: Floats, r: Floats) -> float:
        return float((q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0]))

    return side(a, b, c) * side(a, b, d) <= 0.0 and side(c, d, a) * side(c, d, b) <= 0.0
