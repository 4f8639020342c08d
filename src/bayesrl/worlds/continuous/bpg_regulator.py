"""The linear regulator of the Bayesian policy gradient (Ghavamzadeh and Engel 2006; survey §5.2).

x_0 ~ N(.3, sd .001), x' = x + a + N(0, sd .01), cost x^2 + .1 a^2, 20 steps. The policy is a ~ N(lambda x, sd sigma)
with lambda = -1.999 + 1.998 / (1 + e^k1) and sigma = .001 + 1 / (1 + e^k2). The best gain is -.916 and its cost .100342
at sigma = .001. (Read as variances, the published spreads would give .3067, so they are standard deviations.)
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.random import Generator

from bayesrl.checks import Floats, frozen, generator, number
from bayesrl.core import WorldStep
from bayesrl.parameters import DISCOUNT, AtLeast, value
from bayesrl.registry import register
from bayesrl.worlds.continuous._box import WIDE, Bounds, BoxWorld
from bayesrl.worlds.settings import Setting

START, START_SPREAD, SPREAD, EFFORT = 0.3, 0.001, 0.01, 0.1


@register(
    "bpg-regulator",
    kind="world",
    survey="5.2",
    paper="Ghavamzadeh06BP",
    evidence=("tests/worlds/continuous/test_continuous.py::test_bandit_and_regulator_by_hand",),
)
@value
class BPGRegulator(BoxWorld):
    """A linear system to be kept near zero for 20 steps, at the cost x^2 + .1 a^2 of each.

    Examples
    --------
    >>> round(BPGRegulator().step(np.array([0.3]), [-0.3], np.random.default_rng(0)).reward, 6)
    -0.099
    """

    gamma: Annotated[float, DISCOUNT, "Discount."] = 1.0
    horizon: Annotated[int, AtLeast(1), "Steps of an episode."] = 20
    ends: ClassVar[bool] = False
    registered: ClassVar[str] = "bpg-regulator"
    setting: ClassVar[Setting] = Setting(steps=40_000)  # type: ignore[misc]  # one for all

    @property
    def observations(self) -> Bounds:
        """Real numbers; Gymnasium wants bounds, so there are wide ones."""
        return Bounds.of([-WIDE], [WIDE])

    @property
    def actions(self) -> Bounds:
        """Real numbers; Gymnasium wants bounds, so there are wide ones."""
        return Bounds.of([-WIDE], [WIDE])

    @property
    def best_return(self) -> float | None:
        """Minus the cost of the best gain with sigma = .001."""
        return -0.100342 if (self.gamma, self.horizon) == (1.0, 20) else None

    def reset(self, rng: Generator) -> tuple[Floats, Floats]:
        """Near .3."""
        x = frozen(np.array([generator("bpg-regulator", rng).normal(START, START_SPREAD)]))
        return x, x

    def step(self, state: Floats, action: Any, rng: Generator) -> WorldStep:
        """The next state, and minus the cost of this one."""
        x, a = _number("state", state), _number("action", action)
        new = frozen(np.array([x + a + generator("bpg-regulator", rng).normal(0.0, SPREAD)]))
        return WorldStep(new, new, -(x * x + EFFORT * a * a), False)


def _number(name: str, x: Any) -> float:
    """A number, or a vector of one."""
    return number("bpg-regulator", name, x[0] if np.shape(x) == (1,) else x)
