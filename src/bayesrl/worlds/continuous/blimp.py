"""The blimp: hold a height with a weak motor and drag (after Dallaire et al. 2009; numbers ours; survey §4.8).

State: height h and velocity v. h' = h + .5 v + N(0, .01^2), v' = v + .5 (.6 a - .4 v) + N(0, .02^2), a in [-1, 1]. The
reward is exp(-(h / .3)^2 / 2) of the height at which the action is taken. It starts at (1, 0).

The state is seen, or (`hidden`) only the height through a sensor with noise of standard deviation .05, also at a reset.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.random import Generator

from bayesrl.checks import Floats, array, frozen
from bayesrl.core import WorldStep
from bayesrl.kernels.arrays import F1, F2
from bayesrl.kernels.jit import njit
from bayesrl.parameters import DISCOUNT, AtLeast, value
from bayesrl.registry import register
from bayesrl.worlds.continuous._box import WIDE, Bounds, BoxWorld, check_action
from bayesrl.worlds.settings import Setting

STEP, PUSH, DRAG, WIDTH, START = 0.5, 0.6, 0.4, 0.3, (1.0, 0.0)
NOISE, SENSOR = np.array([0.01, 0.02]), 0.05
A = np.array([[1.0, STEP], [0.0, 1.0 - STEP * DRAG]])
B = np.array([[0.0], [STEP * PUSH]])
"""The next state is A s + B a + noise."""


@register(
    "blimp",
    kind="world",
    survey="4.8",
    paper="dallaire09",
    evidence=("tests/worlds/continuous/test_blimp.py::test_steps_by_hand",),
)
@value
class Blimp(BoxWorld):
    """A blimp that should stay at height 0; its velocity, and the noise of its height, may be hidden.

    Examples
    --------
    >>> world = Blimp()
    >>> state, _ = world.reset(np.random.default_rng(0))
    >>> step = world.step(state, [-1.0], np.random.default_rng(0))
    >>> step.state.round(2).tolist(), round(step.reward, 4)
    ([1.0, -0.3], 0.0039)
    """

    hidden: Annotated[bool, "Whether only the height is seen, with noise."] = False
    gamma: Annotated[float, DISCOUNT, "Discount."] = 0.95
    horizon: Annotated[int, AtLeast(1), "Steps after which an episode is cut off."] = 100
    ends: ClassVar[bool] = False
    registered: ClassVar[str] = "blimp"
    setting: ClassVar[Setting] = Setting(prior="gp-dynamics", steps=100)  # type: ignore[misc]  # one for all

    @property
    def observations(self) -> Bounds:
        """Height and velocity, or a measured height; they have no bounds."""
        size = 1 if self.hidden else 2
        return Bounds.of([-WIDE] * size, [WIDE] * size)

    @property
    def actions(self) -> Bounds:
        """The motor."""
        return Bounds.of([-1.0], [1.0])

    @property
    def prior(self) -> str:
        """Gaussian-process dynamics; if the state is hidden, known dynamics with unknown noises."""
        return "normal-wishart-dynamics" if self.hidden else self.setting.prior

    def reset(self, rng: Generator) -> tuple[Floats, Floats]:
        """At rest, too high."""
        state = frozen(np.array(START))
        return state, self._seen(state, rng)

    def step(self, state: Floats, action: Any, rng: Generator) -> WorldStep:
        """Half a second."""
        a = check_action("blimp", self.actions, action)
        s = array("blimp", "state", state, (2,), moderate=True)
        new = frozen(A @ s + B @ a + NOISE * rng.standard_normal(2))
        return WorldStep(new, self._seen(new, rng), math.exp(-0.5 * (float(s[0]) / WIDTH) ** 2), False)

    def _seen(self, state: Floats, rng: Generator) -> Floats:
        return frozen(state[:1] + SENSOR * rng.standard_normal(1)) if self.hidden else state


@njit
def blimp_reward(states: F2, action: F1) -> F1:
    """Rewards in states (n, 2), whatever the action: (n,)."""
    h = states[:, 0] / WIDTH
    return np.exp(-0.5 * h * h)


# Functions of a belief that knows the dynamics, on rows --------------------------------------------------------------


def moved(s: Floats, a: Floats, v: Floats) -> Floats:
    """s' = A s + B a + v."""
    return np.asarray(s @ A.T + B @ a + v)


def seen(s: Floats, a: Floats, w: Floats) -> Floats:
    """z = h + w."""
    return s[:, :1] + w


def unseen(s: Floats, a: Floats, z: Floats) -> tuple[Floats, float]:
    """The w of z = h + w, and log |dw/dz| = 0."""
    return z - s[:, :1], 0.0
