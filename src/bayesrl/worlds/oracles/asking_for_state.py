"""A state oracle (Jaulmes, Pineau and Precup 2005; survey §4.9): a step whose states are told.

Action A + a does a and asks. The observation is (o, s, s'): what is seen, the state before the step and the state that
was reached. If nothing was asked, it is (o, -1, -1).
"""

from __future__ import annotations

from typing import Annotated, ClassVar

from numpy.random import Generator

from bayesrl.checks import integer
from bayesrl.core import WorldStep
from bayesrl.models.pomdp import NOTHING
from bayesrl.parameters import AtLeast, value
from bayesrl.registry import register
from bayesrl.worlds.hidden import POMDPWorld
from bayesrl.worlds.oracles._oracle import Oracle


@register(
    "asking-for-state",
    kind="world",
    survey="4.9",
    paper="jaulmes05",
    evidence=(
        "tests/worlds/oracles/test_oracles.py::test_state_oracle",
        "tests/worlds/oracles/test_oracles.py::test_inside",
    ),
)
@value
class AskingForState(Oracle):
    """A world with a hidden state, in which each step may be shown.

    Examples
    --------
    Listening (action 0) is action 3 with a question.

    >>> from numpy.random import default_rng
    >>> world = AskingForState("tiger", cost=2.0)
    >>> world.step(1, 0, default_rng(0)).observation, world.step(1, 3, default_rng(0))[1:3]
    ((1, -1, -1), ((1, 1, 1), -3.0))
    """

    world: Annotated[str | POMDPWorld, "The world inside, or its name."] = "tiger"
    cost: Annotated[float, AtLeast(0), "Price of a question."] = 1.0

    query: ClassVar[str] = "state"

    @property
    def n_actions(self) -> int:
        """2 A: each action without a question, then each with one."""
        return 2 * self.inside.n_actions

    @property
    def answers(self) -> tuple[int, ...]:
        """How many answers there are: twice a state."""
        return self.inside.n_states, self.inside.n_states

    def reset(self, rng: Generator) -> tuple[int, tuple[int, int, int]]:
        """The first state of an episode. Nothing is seen, and nothing said."""
        state, seen = self.inside.reset(rng)
        return state, (seen, NOTHING, NOTHING)

    def step(self, state: int, action: int, rng: Generator) -> WorldStep:
        """The step of the world inside, and, if it was asked for, its states."""
        ask, a = divmod(integer("AskingForState", "action", action, 0, self.n_actions - 1), self.inside.n_actions)
        after, seen, reward, terminated = self.inside.step(state, a, rng)
        said = (state, after) if ask else (NOTHING, NOTHING)
        return WorldStep(after, (seen, *said), reward - self.cost * ask, terminated)
