"""A confirming oracle (Doshi, Pineau and Roy 2008; survey §4.9): it says whether an action is the best one.

Action A + a asks "should I do a?", and nothing else happens. The observation is (-1, answer): 1 if a is the best action
of the true model at the belief of the oracle, else 0. The observation of any other action is (o, -1).

The oracle is that of `asking-for-action`.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from numpy.random import Generator

from bayesrl.checks import integer
from bayesrl.core import WorldStep
from bayesrl.parameters import AtLeast, value
from bayesrl.registry import register
from bayesrl.worlds.hidden import POMDPWorld
from bayesrl.worlds.oracles._oracle import Advisor


@register(
    "asking-for-confirmation",
    kind="world",
    survey="4.9",
    paper="doshi08",
    evidence=(
        "tests/worlds/oracles/test_oracles.py::test_confirming_oracle",
        "tests/worlds/oracles/test_oracles.py::test_inside",
    ),
)
@value
class AskingForConfirmation(Advisor):
    """A world with a hidden state, in which it may be asked whether an action is the best one.

    Examples
    --------
    At first it is best to listen (action 0), and not to open a door (action 2).

    >>> from numpy.random import default_rng
    >>> world, rng = AskingForConfirmation("tiger"), default_rng(0)
    >>> state, _ = world.reset(rng)
    >>> world.step(state, 3, rng).observation, world.step(state, 5, rng).observation
    ((-1, 1), (-1, 0))
    """

    world: Annotated[str | POMDPWorld, "The world inside, or its name."] = "tiger"
    cost: Annotated[float, AtLeast(0), "Price of a question."] = 1.0

    query: ClassVar[str] = "confirmation"

    @property
    def n_actions(self) -> int:
        """2 A: each action, then a question about each."""
        return 2 * self.inside.n_actions

    @property
    def answers(self) -> tuple[int, ...]:
        """How many answers there are: no and yes."""
        return (2,)

    def step(self, state: Any, action: int, rng: Generator) -> WorldStep:
        """The step of the world inside, or the oracle's answer."""
        a = integer("AskingForConfirmation", "action", action, 0, self.n_actions - 1)
        asked = a - self.inside.n_actions
        return self._answered(state, a, lambda now: int(self.advised(now) == asked), rng)
