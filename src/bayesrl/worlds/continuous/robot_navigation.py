"""A robot that drifts and sees its position through a noisy sensor (after Ross, Chaib-draa, Pineau 2008; survey §4.8).

A robot in the plane takes a step of length .5 in one of eight directions, or none: s' = s + a + v. It sees z = s + w.
The noise v has the mean (.1, -.05), a drift, and standard deviation .1; w has the mean 0 and standard deviation .2. The
agent knows neither. The reward is minus the squared distance to the goal, at the state where the action is taken.

The numbers are ours, since the paper's could not be read again. The robot starts at N(0, .1^2) in each coordinate, and
the goal is at (2, 1). Nothing is seen at a reset: the observation is the mean of the start. Any step in the box
[-.5, .5]^2 is an action; `moves` lists the nine of the set-up.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.random import Generator

from bayesrl.checks import Floats, array, frozen, generator
from bayesrl.core import WorldStep
from bayesrl.parameters import DISCOUNT, Above, AtLeast, Shape, value
from bayesrl.registry import register
from bayesrl.worlds.continuous._box import WIDE, Bounds, BoxWorld, check_action
from bayesrl.worlds.settings import Setting

LENGTH, SPREAD = 0.5, 0.1
"""The length of a step, and the standard deviation of the start."""


@register(
    "robot-navigation",
    kind="world",
    survey="4.8",
    paper="ross08icra",
    evidence=("tests/worlds/continuous/test_robot_navigation.py::test_steps_by_hand",),
)
@value
class RobotNavigation(BoxWorld):
    """A robot in the plane with an unknown drift and a noisy sensor.

    Examples
    --------
    >>> world = RobotNavigation()
    >>> world.step(np.array([1.0, 1.0]), world.moves[0], np.random.default_rng(0)).reward
    -1.0
    """

    drift: Annotated[tuple[float, float], "Mean of the process noise v."] = (0.1, -0.05)
    noise: Annotated[float, Above(0.0), "Standard deviation of v in each coordinate."] = 0.1
    sensor: Annotated[float, Above(0.0), "Standard deviation of the sensor noise w in each coordinate."] = 0.2
    goal: Annotated[tuple[float, float], "Where the reward is largest."] = (2.0, 1.0)
    gamma: Annotated[float, DISCOUNT, "Discount."] = 0.95
    horizon: Annotated[int, AtLeast(1), "Steps of an episode."] = 50
    ends: ClassVar[bool] = False
    hidden: ClassVar[bool] = True
    registered: ClassVar[str] = "robot-navigation"
    setting: ClassVar[Setting] = Setting(prior="normal-wishart-dynamics", steps=50)  # type: ignore[misc]  # one for all

    def __post_init__(self) -> None:
        for name in ("drift", "goal"):
            point = array("RobotNavigation", name, getattr(self, name), (2,), moderate=True)
            object.__setattr__(self, name, tuple(point.tolist()))

    @property
    def observations(self) -> Bounds:
        """Points of the plane; Gymnasium wants bounds, so there are wide ones."""
        return Bounds.of([-WIDE, -WIDE], [WIDE, WIDE])

    @property
    def actions(self) -> Bounds:
        """Steps."""
        return Bounds.of([-LENGTH, -LENGTH], [LENGTH, LENGTH])

    @property
    def moves(self) -> Floats:
        """Eight steps of length .5 and none, (9, 2)."""
        angle = 0.25 * np.pi * np.arange(8)
        return frozen(np.vstack([LENGTH * np.column_stack([np.cos(angle), np.sin(angle)]), np.zeros(2)]))

    def reset(self, rng: Generator) -> tuple[Floats, Floats]:
        """A first position, which is not seen."""
        start = SPREAD * generator("robot-navigation", rng).standard_normal(2)
        return frozen(start), frozen(np.zeros(2))

    def step(self, state: Floats, action: Any, rng: Generator) -> WorldStep:
        """The next position, what the sensor says of it, and the reward of this position."""
        s, a = array("robot-navigation", "state", state, (2,)), check_action("robot-navigation", self.actions, action)
        v, w = generator("robot-navigation", rng).standard_normal((2, 2))
        new = frozen(s + a + np.array(self.drift) + self.noise * v)
        return WorldStep(new, frozen(new + self.sensor * w), -float(((s - np.array(self.goal)) ** 2).sum()), False)


# The belief's functions, on rows -------------------------------------------------------------------------------------


def moved(s: Floats, a: Floats, v: Floats) -> Floats:
    """s' = s + a + v."""
    return s + a + v


def seen(s: Floats, a: Floats, w: Floats) -> Floats:
    """z = s + w."""
    return s + w


def unseen(s: Floats, a: Floats, z: Floats) -> tuple[Floats, float]:
    """The w of z = s + w, and log |dw/dz| = 0."""
    return z - s, 0.0


@value
class MinusSquaredDistance:
    """The reward of states, (n, 2).

    Examples
    --------
    >>> MinusSquaredDistance(np.zeros(2))(np.array([[1.0, 1.0]]), np.zeros(2)).tolist()
    [-2.0]
    """

    goal: Annotated[Floats, Shape("(2,)"), "Where it is largest."]

    def __call__(self, s: Floats, a: Floats) -> Floats:
        """Minus the squared distance to the goal, (n,)."""
        return -np.asarray(((s - self.goal) ** 2).sum(axis=1))
