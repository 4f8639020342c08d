"""An action oracle (Atrash and Pineau 2009; survey §4.9): it tells the best action.

Action A asks, and nothing else happens. The observation is (-1, answer): the best action of the true model at the
belief of the oracle, which filters what is seen. The observation of any other action is (o, -1).

The oracle knows the model, but no more of the state than can be inferred. Its model is solved by point-based value
iteration.
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
    "asking-for-action",
    kind="world",
    survey="4.9",
    paper="atrash09",
    evidence=(
        "tests/worlds/oracles/test_oracles.py::test_action_oracle",
        "tests/worlds/oracles/test_oracles.py::test_inside",
    ),
)
@value
class AskingForAction(Advisor):
    """A world with a hidden state, in which the best action may be asked for.

    Examples
    --------
    >>> from numpy.random import default_rng
    >>> world, rng = AskingForAction("tiger"), default_rng(0)
    >>> state, seen = world.reset(rng)
    >>> seen, world.step(state, 3, rng)[1:3]
    ((-1, -1), ((-1, 0), -1.0))
    """

    world: Annotated[str | POMDPWorld, "The world inside, or its name."] = "tiger"
    cost: Annotated[float, AtLeast(0), "Price of a question."] = 1.0

    query: ClassVar[str] = "action"

    @property
    def n_actions(self) -> int:
        """A + 1: the last one asks."""
        return self.inside.n_actions + 1

    @property
    def answers(self) -> tuple[int, ...]:
        """How many answers there are: A."""
        return (self.inside.n_actions,)

    def step(self, state: Any, action: int, rng: Generator) -> WorldStep:
        """The step of the world inside, or the oracle's answer."""
        a = integer("AskingForAction", "action", action, 0, self.n_actions - 1)
        return self._answered(state, a, self.advised, rng)
