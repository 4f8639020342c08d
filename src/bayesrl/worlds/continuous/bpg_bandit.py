"""The Gaussian bandit of the Bayesian policy gradient (Ghavamzadeh and Engel 2006; survey §5.2).

One state, one step. The action is drawn from N(mean, sd) with parameters (0, 1), so its score is (a, a^2 - 1) and the
Fisher information diag(1, 2). The reward is a, with gradient (1, 0), or a^2, with gradient (0, 2).
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.random import Generator

from bayesrl.checks import array
from bayesrl.core import WorldStep
from bayesrl.parameters import DISCOUNT, AtLeast, value
from bayesrl.registry import register
from bayesrl.worlds.continuous._box import WIDE, Bounds, BoxWorld
from bayesrl.worlds.settings import Setting


@register(
    "bpg-bandit",
    kind="world",
    survey="5.2",
    paper="Ghavamzadeh06BP",
    evidence=("tests/worlds/continuous/test_continuous.py::test_bandit_and_regulator_by_hand",),
)
@value
class BPGBandit(BoxWorld):
    """One step with a real action a; the reward is a or a^2.

    Examples
    --------
    >>> BPGBandit(reward="a2").step(0, [3.0], np.random.default_rng(0)).reward
    9.0
    """

    reward: Annotated[Literal["a", "a2"], "What is paid: the action or its square."] = "a"
    gamma: Annotated[float, DISCOUNT, "Discount."] = 1.0
    horizon: Annotated[int, AtLeast(1), "Steps of an episode: it ends after the first."] = 1
    registered: ClassVar[str] = "bpg-bandit"
    setting: ClassVar[Setting] = Setting(steps=1000)  # type: ignore[misc]  # one for all

    @property
    def observations(self) -> int:
        """One."""
        return 1

    @property
    def actions(self) -> Bounds:
        """Real numbers; Gymnasium wants bounds, so there are wide ones."""
        return Bounds.of([-WIDE], [WIDE])

    def reset(self, rng: Generator) -> tuple[int, int]:
        """The one state."""
        return 0, 0

    def step(self, state: int, action: Any, rng: Generator) -> WorldStep:
        """The reward, and the end."""
        a = float(array("bpg-bandit", "action", np.atleast_1d(np.asarray(action)), (1,))[0])
        return WorldStep(0, 0, a if self.reward == "a" else a * a, True)
