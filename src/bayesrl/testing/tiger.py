"""The tiger problem (Kaelbling, Littman and Cassandra 1998) with an oracle: a small world whose state is hidden.

A tiger is behind one of two doors. Listening costs 1 and reports the right door with probability .85. Opening the
tiger's door costs 100, opening the other door pays 10, and both end the episode. With every act the agent may also ask
an oracle, which costs 2 and reports the tiger's door.

The action is a pair (act, ask) and the observation a pair (heard, answer). This world is not registered. It shows that
the loop, records and files work with hidden states, oracles, and actions and observations that are tuples.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, NamedTuple

from numpy.random import Generator

from bayesrl.checks import generator, integer
from bayesrl.core import WorldStep
from bayesrl.errors import InvalidArgument
from bayesrl.parameters import DISCOUNT, PROBABILITY, declared

LISTEN, OPEN_LEFT, OPEN_RIGHT = 0, 1, 2
LEFT, RIGHT, NOTHING = 0, 1, 2


class Action(NamedTuple):
    """What to do, and whether to ask the oracle."""

    act: int
    """LISTEN, OPEN_LEFT or OPEN_RIGHT."""
    ask: int = 0
    """1 to ask."""


class Observation(NamedTuple):
    """What was heard, and what the oracle said: LEFT, RIGHT or NOTHING."""

    heard: int = NOTHING
    answer: int = NOTHING


@declared
class Tiger:
    """Two doors, a tiger behind one of them, and an oracle.

    Examples
    --------
    >>> from numpy.random import default_rng
    >>> Tiger().step(LEFT, Action(OPEN_RIGHT), default_rng(0))
    WorldStep(state=0, observation=Observation(heard=2, answer=2), reward=10.0, terminated=True)
    """

    accuracy: Annotated[float, PROBABILITY, "Probability that listening reports the right door."] = 0.85
    fee: Annotated[float, "Cost of a question."] = 2.0
    gamma: Annotated[float, DISCOUNT, "Discount."] = 0.95

    hidden: ClassVar[bool] = True

    def reset(self, rng: Generator) -> tuple[int, Observation]:
        """The tiger is behind either door; nothing is heard."""
        return int(generator("Tiger", rng).integers(2)), Observation()

    def step(self, state: int, action: Action | tuple[int, int], rng: Generator) -> WorldStep:
        """Listen or open, and ask or not. Each step draws one random number."""
        if not isinstance(action, tuple) or len(action) != 2:
            raise InvalidArgument("Tiger", "action", "a pair (act, ask)", action)
        tiger = integer("Tiger", "state", state, 0, 1)
        act, ask = integer("Tiger", "act", action[0], 0, 2), integer("Tiger", "ask", action[1], 0, 1)
        right = generator("Tiger", rng).random() < self.accuracy
        heard = NOTHING if act != LISTEN else tiger if right else 1 - tiger
        paid = -1.0 if act == LISTEN else -100.0 if act == OPEN_LEFT + tiger else 10.0
        seen = Observation(heard, tiger if ask else NOTHING)
        return WorldStep(tiger, seen, paid - self.fee * ask, act != LISTEN)
