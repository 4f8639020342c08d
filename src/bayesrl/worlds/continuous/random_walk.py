"""The random walk of the Bayesian actor-critic (Ghavamzadeh and Engel 2007; survey §5.3).

Ten states in a row. It starts at the left end, and the right end absorbs. Left and right are deterministic; left stays
put at the left end. A step pays N(reward, .1^2).

Deviation: the paper pays +1 for each step, which makes never arriving optimal. Ours pays -1; `reward=1.0` is the
paper's gradient problem.
"""

from __future__ import annotations

from typing import Annotated, ClassVar

from numpy.random import Generator

from bayesrl.checks import generator, integer
from bayesrl.core import WorldStep
from bayesrl.parameters import DISCOUNT, AtLeast, value
from bayesrl.registry import register
from bayesrl.worlds.continuous._box import BoxWorld
from bayesrl.worlds.settings import Setting

LENGTH = 10


@register(
    "random-walk",
    kind="world",
    survey="5.3",
    paper="Ghavamzadeh07BA",
    evidence=("tests/worlds/continuous/test_continuous.py::test_random_walk_by_hand",),
)
@value
class RandomWalk(BoxWorld):
    """Ten states in a row, each step costs 1, the right end absorbs. The best return is -8.648 at discount .99.

    Examples
    --------
    >>> from numpy.random import default_rng
    >>> world = RandomWalk()
    >>> world.step(8, 1, default_rng(0)).terminated, world.step(0, 0, default_rng(0)).state
    (True, 0)
    """

    reward: Annotated[float, "Mean reward of a step."] = -1.0
    spread: Annotated[float, AtLeast(0.0), "Standard deviation of a reward."] = 0.1
    gamma: Annotated[float, DISCOUNT, "Discount."] = 0.99
    horizon: Annotated[int, AtLeast(1), "Steps after which an episode is cut off."] = 1000
    registered: ClassVar[str] = "random-walk"
    setting: ClassVar[Setting] = Setting(steps=20_000)  # type: ignore[misc]  # one for all
    n_states: ClassVar[int] = LENGTH
    n_actions: ClassVar[int] = 2

    @property
    def observations(self) -> int:
        """The ten states."""
        return LENGTH

    @property
    def actions(self) -> int:
        """Left, right."""
        return self.n_actions

    @property
    def best_return(self) -> float | None:
        """Nine steps to the right, if steps cost."""
        return self.reward * sum(self.gamma**t for t in range(LENGTH - 1)) if self.reward <= 0.0 else None

    def reset(self, rng: Generator) -> tuple[int, int]:
        """The left end."""
        return 0, 0

    def step(self, state: int, action: int, rng: Generator) -> WorldStep:
        """One step to the left or to the right."""
        s = integer("random-walk", "state", state, 0, LENGTH - 2)
        a = integer("random-walk", "action", action, 0, 1)
        new = s + 1 if a == 1 else max(s - 1, 0)
        paid = float(generator("random-walk", rng).normal(self.reward, self.spread))
        return WorldStep(new, new, paid, new == LENGTH - 1)
